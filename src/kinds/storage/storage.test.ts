import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
  linesOf,
  named,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { csiDriverBehaviour } from './csi-driver/behaviour.ts'
import { csiNodeBehaviour } from './csi-node/behaviour.ts'
import { csiStorageCapacityBehaviour } from './csi-storage-capacity/behaviour.ts'
import { persistentVolumeBehaviour } from '#kinds/core/persistent-volume/behaviour.ts'
import { persistentVolumeClaimBehaviour } from '#kinds/core/persistent-volume-claim/behaviour.ts'
import { storageClassBehaviour } from './storage-class/behaviour.ts'
import { volumeAttachmentBehaviour } from './volume-attachment/behaviour.ts'

const volume = (spec: Loose) =>
  named({ spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...spec } })
const nfs = { server: 's', path: '/p' }
checkCreate(persistentVolumeBehaviour, [
  ['a volume', volume({ nfs }), []],
  ['one source', volume({}), ['spec: Required value: must specify a volume type']],
  [
    'and no more',
    volume({ nfs, cephfs: { monitors: ['m'] } }),
    ['spec.cephFS: Forbidden: may not specify more than 1 volume type'],
  ],
  [
    'storage and nothing else',
    volume({ nfs, capacity: undefined }),
    [
      'spec.capacity: Required value',
      'spec.capacity: Unsupported value: core.ResourceList(nil): supported values: "storage"',
    ],
  ],
  [
    'a local volume is somewhere',
    volume({ local: { path: '/a' } }),
    ['spec.nodeAffinity: Required value: Local volume requires node affinity'],
  ],
  [
    'the root is never recycled',
    volume({ hostPath: { path: '//' }, persistentVolumeReclaimPolicy: 'Recycle' }),
    [
      "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
    ],
  ],
  [
    'options of mounting are for what is mounted',
    {
      ...volume({ fc: { targetWWNs: ['w'], lun: 1 } }),
      metadata: { name: 'a', annotations: { 'volume.beta.kubernetes.io/mount-options': 'ro' } },
    },
    [
      'metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not specify mount options for this volume type',
    ],
  ],
  [
    'secrets have a name and a namespace',
    volume({ csi: { driver: 'd.io', volumeHandle: 'h', nodePublishSecretRef: {} } }),
    [
      'spec.csi.nodePublishSecretRef .name: Required value',
      'spec.csi.nodePublishSecretRef .namespace: Required value',
    ],
  ],
])

test('the source of a volume is immutable, and every error is reported twice', () => {
  const next = volume({ nfs: { server: 't', path: '/p' }, storageClassName: 'A' })
  const errors =
    persistentVolumeBehaviour.validateUpdate?.(next, volume({ nfs }), contextFor()) ?? []
  const [first, second, third] = linesOf(errors)
  assert.match(first ?? '', /^spec.storageClassName: Invalid value: "A"/)
  assert.equal(second, first)
  assert.match(
    third ?? '',
    /^spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n {2}core\.PersistentVolumeSource\{/,
  )
})

for (const [what, behaviour] of [
  ['volume', persistentVolumeBehaviour],
  ['claim', persistentVolumeClaimBehaviour],
] as const) {
  test(`a new ${what} is pending once it is read back, and of no phase before`, () => {
    const object = volume({ nfs })
    behaviour.prepareForCreate?.(object, contextFor())
    assert.deepEqual(object.status, {})
    behaviour.readBack?.(object)
    assert.deepEqual(object.status, { phase: 'Pending' })
  })
}

const claim = (spec: Loose, status?: Loose) =>
  inDefault({
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
    status,
  })
const growing = contextFor({}, ['ExpandPersistentVolumes'])
const bound = { phase: 'Bound' }
const bigger = { resources: { requests: { storage: '2Gi' } } }
checkUpdate(persistentVolumeClaimBehaviour, [
  ['a bound claim grows', claim({}, bound), claim(bigger, bound), [], growing],
  ['a claim is bound', claim({}), claim({ volumeName: 'v' }), [], growing],
  [
    'it never shrinks',
    claim(bigger, bound),
    claim({}, bound),
    ['spec.resources.requests.storage: Forbidden: field can not be less than previous value'],
    growing,
  ],
])

test('a claim that is not bound cannot grow', () => {
  const errors =
    persistentVolumeClaimBehaviour.validateUpdate?.(claim(bigger), claim({}), growing) ?? []
  assert.match(
    errors[0]?.message ?? '',
    /^Forbidden: spec is immutable after creation except resources.requests for bound claims\n {2}core\.PersistentVolumeClaimSpec\{/,
  )
})

test('only claims and snapshots may be data sources', () => {
  const odd = claim({ dataSource: { apiGroup: 'x.io', kind: 'K', name: 'n' } })
  persistentVolumeClaimBehaviour.prepareForCreate?.(odd, contextFor())
  assert.equal(odd.spec.dataSource, undefined)
  const copied = claim({ dataSource: { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'n' } })
  persistentVolumeClaimBehaviour.prepareForCreate?.(copied, contextFor({}, ['VolumePVCDataSource']))
  assert.equal(copied.spec.dataSource.name, 'n')
})

const provisioned = (fields: Loose) =>
  named({
    provisioner: 'x.io/y',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
    ...fields,
  })
const term = (...values: string[]) => ({ matchLabelExpressions: [{ key: 'k', values }] })
checkCreate(storageClassBehaviour, [
  ['a class', provisioned({ allowedTopologies: [term('a', 'b'), term('c')] }), []],
  [
    'no topology twice',
    provisioned({ allowedTopologies: [term('a', 'b'), term('b', 'a')] }),
    ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
  ],
  [
    'an empty term is reported as a duplicate once per term',
    provisioned({ allowedTopologies: [{}, term('a')] }),
    Array<string>(2).fill('allowedTopologies[0].matchLabelExpressions: Duplicate value: ""'),
  ],
])
checkUpdate(storageClassBehaviour, [
  [
    'what makes volumes stays',
    provisioned({ parameters: { a: 'b' } }),
    provisioned({ provisioner: 'x.io/z', reclaimPolicy: 'Retain' }),
    [
      'parameters: Forbidden: updates to parameters are forbidden.',
      'provisioner: Forbidden: updates to provisioner are forbidden.',
      'reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.',
    ],
  ],
])

test('since 1.36 parameters that are empty equal parameters that are not there', () => {
  const next = provisioned({})
  rememberEmpty(next, 'parameters')
  const fieldsOf = (release: number) =>
    storageClassBehaviour
      .validateUpdate?.(next, provisioned({}), contextFor({ release }))
      .map(({ field }) => field)
  assert.deepEqual(fieldsOf(35), ['parameters'])
  assert.deepEqual(fieldsOf(36), [])
})

test('since 1.37 each write to an attachment checks the attacher', () => {
  const old = attached({ persistentVolumeName: 'v' })
  const next = { ...old, spec: { ...old.spec, attacher: 'x'.repeat(64) } }
  const fieldsOf = (release: number) =>
    new Set(
      volumeAttachmentBehaviour
        .validateUpdate?.(next, old, contextFor({ release }))
        .map(({ field }) => field),
    )
  assert.deepEqual(fieldsOf(36), new Set(['spec']))
  assert.deepEqual(fieldsOf(37), new Set(['spec', 'spec.attacher']))
})

checkUpdate(csiDriverBehaviour, [
  [
    'a driver works as it did',
    named({ spec: { volumeLifecycleModes: ['Persistent'] } }),
    named({
      spec: { volumeLifecycleModes: ['Ephemeral'], tokenRequests: [{ expirationSeconds: 5 }] },
    }),
    [
      'spec.volumeLifecycleModes: Invalid value: []storage.VolumeLifecycleMode{"Ephemeral"}: field is immutable',
      'spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
    ],
  ],
])

const drivers = (...list: Loose[]) => named({ spec: { drivers: list } })
checkUpdate(csiNodeBehaviour, [
  [
    'drivers are added and removed',
    drivers({ name: 'a', nodeID: '1' }),
    drivers({ name: 'b', nodeID: '1' }),
    [],
  ],
  [
    'and stay the same meanwhile',
    drivers({ name: 'a', nodeID: '1' }),
    drivers({ name: 'a', nodeID: '2', topologyKeys: ['k'] }),
    [
      'CSINodeDriver: Invalid value: storage.CSINodeDriver{Name:"a", NodeID:"2", TopologyKeys:[]string{"k"}, Allocatable:(*storage.VolumeNodeResources)(nil)}: field is immutable',
    ],
  ],
])

checkCreate(csiStorageCapacityBehaviour, [
  [
    'a new capacity is checked twice over',
    inDefault({ storageClassName: 'a', capacity: '-1' }),
    Array<string>(2).fill('capacity: Invalid value: "-1": must be greater than or equal to 0'),
  ],
])

const attached = (source: Loose) => named({ spec: { attacher: 'd.io', nodeName: 'n', source } })
const migrating = ['CSIMigration']
checkCreate(volumeAttachmentBehaviour, [
  ['a volume by name', attached({ persistentVolumeName: 'v' }), []],
  [
    'or inline, with its driver',
    attached({ inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1' } } }),
    [
      'spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes',
      'spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes',
      'spec.source.inlineVolumeSpec: Required value: must specify a volume type',
    ],
    contextFor({}, migrating),
  ],
  [
    'but something',
    attached({}),
    [
      'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
    ],
    contextFor({}, migrating),
  ],
])

test('a create in v1beta1 keeps the status of an attachment, a create in v1 does not', () => {
  const object = named({ spec: {}, status: { attached: true } })
  volumeAttachmentBehaviour.prepareForCreate?.(
    object,
    contextFor({ requestApiVersion: 'storage.k8s.io/v1beta1' }),
  )
  assert.deepEqual(object.status, { attached: true })
  volumeAttachmentBehaviour.prepareForCreate?.(
    object,
    contextFor({ requestApiVersion: 'storage.k8s.io/v1' }),
  )
  assert.deepEqual(object.status, { attached: false })
})

test('before 1.20 the spec of a driver was immutable', () => {
  const spec = { attachRequired: true, podInfoOnMount: true }
  const told = (release: number) =>
    csiDriverBehaviour
      .validateUpdate?.(named({ spec: { ...spec, podInfoOnMount: false } }), named({ spec }), {
        ...contextFor(),
        release,
        feature: () => false,
      })
      .map(({ field, message }) => `${field}: ${message.replace(/0x[0-9a-f]+/g, 'P')}`)
  assert.deepEqual(told(15), [
    'spec: Invalid value: storage.CSIDriverSpec{AttachRequired:(*bool)(P), PodInfoOnMount:(*bool)(P)}: field is immutable',
  ])
  assert.deepEqual(told(22), ['spec.podInfoOnMount: Invalid value: false: field is immutable'])
})

test('before 1.20 a driver may have finalizers of any name', () => {
  const driver = named({ spec: { attachRequired: true, podInfoOnMount: true } })
  driver.metadata.finalizers = ['x.y']
  const told = (release: number) =>
    csiDriverBehaviour
      .validateCreate?.(driver, { ...contextFor(), release, feature: () => false })
      .map(({ field }) => field)
  assert.deepEqual(told(19), [])
  assert.deepEqual(told(22), ['metadata.finalizers[0]'])
})

test('before 1.22 a provisioner is shown as written', () => {
  const shown = (release: number) =>
    storageClassBehaviour
      .validateCreate?.(provisioned({ provisioner: 'A:b' }), { ...contextFor(), release })
      .map(({ message }) => message.slice(0, 20))
  assert.deepEqual(shown(21), ['Invalid value: "A:b"'])
  assert.deepEqual(shown(22), ['Invalid value: "a:b"'])
})
