import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  linesOf,
  named,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { persistentVolumeBehaviour } from './behaviour.ts'

const spec = {
  accessModes: ['ReadWriteOnce'],
  capacity: { storage: '1Gi' },
  csi: { driver: 'd', volumeHandle: 'h' },
}
const volume = (more: Loose = {}) => named({ spec: { ...spec, ...more } })
const affinity = (key: string, value = 'a') => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }],
    },
  },
})
const older = volume(affinity('failure-domain.beta.kubernetes.io/zone'))
const newer = volume(affinity('topology.kubernetes.io/zone'))
const refused = (exception = '') =>
  `nodeAffinity: Invalid value: core.VolumeNodeAffinity{Required:(*core.NodeSelector)(0xc000000000)}: field is immutable${exception}`
const exception = ', except for updating from beta label to GA'
const attributes = 'VolumeAttributesClass'

checkUpdate(persistentVolumeBehaviour, [
  ['labels stay before 1.27', older, newer, [refused()], contextFor({ release: 26 })],
  ['labels get their newer names since 1.27', older, newer, [], contextFor({ release: 27 })],
  [
    'values stay',
    older,
    volume(affinity('topology.kubernetes.io/zone', 'b')),
    [refused(exception)],
    contextFor({ release: 27 }),
  ],
  [
    'with a gate, everything may change',
    older,
    volume(),
    [],
    contextFor({ release: 35 }, ['MutablePVNodeAffinity']),
  ],
  [
    'a class of attributes stays',
    volume({ volumeAttributesClassName: 'a' }),
    volume(),
    ['spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden'],
    contextFor({ release: 34 }, [attributes]),
  ],
  [
    'and is not given without the gate',
    volume(),
    volume({ volumeAttributesClassName: 'a' }),
    [
      'spec.volumeAttributesClassName: Forbidden: update is forbidden when the VolumeAttributesClass feature gate is disabled',
    ],
    contextFor({ release: 31 }),
  ],
])

const secrets: [release: number, lines: string[]][] = [
  [23, ['spec.nodePublishSecretRef .name: Required value']],
  [24, ['spec.nodePublishSecretRef.name: Required value']],
  [
    25,
    [
      'spec.nodePublishSecretRef.name: Required value',
      'spec.nodeExpandSecretRef.name: Required value',
    ],
  ],
]
for (const [release, expected] of secrets) {
  test(`secrets of CSI volumes in 1.${release}`, () => {
    const csi = { ...spec.csi, nodePublishSecretRef: {}, nodeExpandSecretRef: {} }
    const object = volume({ csi })
    const errors = persistentVolumeBehaviour.validateCreate?.(object, contextFor({ release })) ?? []
    const names = linesOf(errors).filter((line) => line.includes('.name:'))
    assert.deepEqual(
      names.map((line) => line.replace('.csi', '')),
      expected,
    )
  })
}

const timeGate = ['PersistentVolumeLastPhaseTransitionTime']
const phases: [
  title: string,
  old: Loose,
  next: Loose,
  time: string | undefined,
  gates: string[],
][] = [
  ['same phase', { phase: 'A', lastPhaseTransitionTime: 't' }, { phase: 'A' }, 't', timeGate],
  ['other phase', { phase: 'A' }, { phase: 'B' }, contextFor().now, timeGate],
  [
    'time of the client',
    { phase: 'A' },
    { phase: 'B', lastPhaseTransitionTime: 'c' },
    'c',
    timeGate,
  ],
  ['gate off', { phase: 'A' }, { phase: 'B' }, undefined, []],
]
for (const [title, old, status, time, gates] of phases) {
  test(`time of the last phase: ${title}`, () => {
    const next = named({ status })
    const context = contextFor({}, gates)
    persistentVolumeBehaviour.subresources?.status?.prepareForUpdate?.(
      next,
      named({ status: old }),
      context,
    )
    assert.equal(next.status.lastPhaseTransitionTime, time)
  })
}

test('a new volume has a phase and its transition time', () => {
  const created = (gates: string[]) => {
    const object = volume()
    persistentVolumeBehaviour.prepareForCreate?.(object, contextFor({}, gates))
    return object.status
  }
  assert.deepEqual(created([]), {})
  assert.deepEqual(created(timeGate), {
    phase: 'Pending',
    lastPhaseTransitionTime: contextFor().now,
  })
})

const placed = volume(affinity('a', 'not a label value'))
checkCreate(persistentVolumeBehaviour, [
  ['any value selects nodes before 1.33', placed, [], contextFor({ release: 32 })],
  [
    'values are label values since 1.33',
    placed,
    [
      "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: \"not a label value\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
    contextFor({ release: 33 }),
  ],
])
