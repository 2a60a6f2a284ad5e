import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { persistentVolumeClaimBehaviour } from './behaviour.ts'
import { claimWarnings } from './claim-warnings.ts'

const claim = (more: Loose = {}, status: Loose = { phase: 'Bound' }, storage = '2') =>
  inDefault({
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...more },
    status,
  })
const gates = ['ExpandPersistentVolumes', 'VolumeAttributesClass']
const context = (release: number, ...more: string[]) => contextFor({ release }, [...gates, ...more])
const className = (name?: string) => (name === undefined ? {} : { volumeAttributesClassName: name })
const attributes = 'spec.volumeAttributesClassName: Forbidden: '
const fixed = 'spec: Forbidden: spec is immutable after creation except resources.requests'

checkUpdate(persistentVolumeClaimBehaviour, [
  [
    'the message names what may change',
    claim(),
    claim({ selector: {} }),
    [
      `${fixed} for bound claims\n  core.PersistentVolumeClaimSpec{\n- \tselector: map[string]interface {}{},\n  }\n`,
    ],
    context(28),
  ],
  [
    'since 1.29 the class of attributes too',
    claim(),
    claim({ selector: {} }),
    [
      `${fixed} and volumeAttributesClassName for bound claims\n  core.PersistentVolumeClaimSpec{\n- \tselector: map[string]interface {}{},\n  }\n`,
    ],
    context(33),
  ],
  [
    'since 1.34 as a unified diff',
    claim(),
    claim({ selector: {} }),
    [
      `${fixed} and volumeAttributesClassName for bound claims\n@@ -2,7 +2,7 @@\n  "AccessModes": [\n   "ReadWriteOnce"\n  ],\n- "Selector": null,\n+ "Selector": {},\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n`,
    ],
    context(34),
  ],
  [
    'a claim does not shrink',
    claim(),
    claim({}, { phase: 'Bound' }, '1'),
    ['spec.resources.requests.storage: Forbidden: field can not be less than previous value'],
    context(33),
  ],
  [
    'but it may stop growing',
    claim({}, { phase: 'Bound', capacity: { storage: '500m' } }),
    claim({}, { phase: 'Bound' }, '1'),
    [],
    context(34, 'RecoverVolumeExpansionFailure'),
  ],
  [
    'down to what it has',
    claim({}, { phase: 'Bound', capacity: { storage: '1' } }),
    claim({}, { phase: 'Bound' }, '1'),
    ['spec.resources.requests.storage: Forbidden: field can not be less than status.capacity'],
    context(34, 'RecoverVolumeExpansionFailure'),
  ],
  [
    'a named class stays before 1.34',
    claim(className('a')),
    claim(className('')),
    [`${attributes}update from non-nil value to an empty string is forbidden`],
    context(33),
  ],
  ['and can be removed since', claim(className('a')), claim(className()), [], context(34)],
  [
    'unless it is applied',
    claim(className('a'), { phase: 'Bound', currentVolumeAttributesClassName: 'a' }),
    claim(className()),
    [
      `${attributes}update to nil is forbidden when status.currentVolumeAttributesClassName is not nil`,
    ],
    context(34),
  ],
  [
    'a storage class may be added',
    claim(),
    claim({ storageClassName: 'a' }),
    [],
    context(26, 'RetroactiveDefaultStorageClass'),
  ],
])

const reference = { apiGroup: 'a_b', kind: 'K', name: 'n', namespace: 'o_p' }
const notDns =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const notLabel =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
checkCreate(persistentVolumeClaimBehaviour, [
  ['groups of sources are free', claim({ dataSourceRef: reference }), [], context(25)],
  [
    'namespaces are checked since 1.26',
    claim({ dataSourceRef: reference }),
    [`spec.dataSourceRef.namespace: Invalid value: "o_p": ${notLabel}`],
    context(28),
  ],
  [
    'groups are checked since 1.29',
    claim({ dataSourceRef: { ...reference, namespace: '' } }),
    [`spec.dataSourceRef.apiGroup: Invalid value: "a_b": ${notDns}`],
    context(29),
  ],
  [
    'the core group has one source',
    claim({ dataSource: { kind: 'K', name: 'n' } }),
    ['spec.dataSource: Invalid value: "K"'],
    context(25),
  ],
  [
    'which is named since 1.26',
    claim({ dataSource: { kind: 'K', name: 'n' } }),
    [
      `spec.dataSource: Invalid value: "K": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
    ],
    context(26),
  ],
])

test('warnings', () => {
  const object = claim({}, {}, '1500m')
  object.metadata.annotations = { 'volume.beta.kubernetes.io/storage-class': 'a' }
  const count = (release: number) => claimWarnings(object, contextFor({ release })).length
  assert.deepEqual([count(25), count(26), count(27), count(28)], [0, 1, 1, 2])
})

const statuses: [gates: string[], old: Loose, next: Loose, kept: Loose][] = [
  [[], {}, { phase: 'Bound', healthStatus: {}, modifyVolumeStatus: {} }, { phase: 'Bound' }],
  [[], { healthStatus: {} }, { healthStatus: {} }, { healthStatus: {} }],
  [['CSIVolumeHealth'], {}, { healthStatus: {}, allocatedResources: {} }, { healthStatus: {} }],
  [['RecoverVolumeExpansionFailure'], {}, { allocatedResources: {} }, { allocatedResources: {} }],
]
for (const [enabled, old, next, kept] of statuses) {
  test(`of the status ${JSON.stringify(next)} over ${JSON.stringify(old)}, ${enabled} keeps ${JSON.stringify(kept)}`, () => {
    const object = inDefault({ spec: {}, status: { ...next } })
    const before = inDefault({ spec: {}, status: old })
    const { status } = persistentVolumeClaimBehaviour.subresources ?? {}
    status?.prepareForUpdate?.(object, before, contextFor({}, enabled))
    assert.deepEqual(object.status, kept)
  })
}
