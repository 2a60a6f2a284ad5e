/** Network policies, ingresses and runtime classes on both sides of changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { inWordsOf } from '#api/release-words.ts'
import { contextFor, inDefault, linesOf, named } from '#kinds/all-kinds/behaviour.suite.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { runtimeClassBehaviour } from '#kinds/node/runtime-class/behaviour.ts'
import { csiNodeBehaviour } from '#kinds/storage/csi-node/behaviour.ts'
import { storageClassBehaviour } from '#kinds/storage/storage-class/behaviour.ts'
import { ingressBehaviour } from './ingress/behaviour.ts'
import { networkPolicyBehaviour } from './network-policy/behaviour.ts'

type Check = [what: string, of: Behaviour, made: KubeObject, release: number, expected: string]

const block = (cidr: string, ...except: string[]) =>
  inDefault({ spec: { ingress: [{ from: [{ ipBlock: { cidr, except } }] }] } })
const from = 'spec.ingress[0].from[0].ipBlock'
const classes = (annotation: string) =>
  inDefault(
    {
      spec: {
        ingressClassName: 'b',
        defaultBackend: { service: { name: 's', port: { number: 1 } } },
      },
    },
    { annotations: { 'kubernetes.io/ingress.class': annotation } },
  )
const tolerations = named({
  handler: 'h',
  scheduling: { tolerations: [{ key: 'a b', operator: 'Exists' }] },
})
const wrongCidr = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
const checks: Check[] = [
  [
    'an invalid CIDR in 1.32',
    networkPolicyBehaviour,
    block('x'),
    32,
    `${from}.cidr: Invalid value: "x": not a valid CIDR`,
  ],
  [
    'an invalid CIDR in 1.33',
    networkPolicyBehaviour,
    block('x'),
    33,
    `${from}.cidr: Invalid value: "x": ${wrongCidr}`,
  ],
  [
    'blocks that are not smaller',
    networkPolicyBehaviour,
    block('10.0.0.0/8', 'y', '10.0.0.0/8'),
    33,
    `${from}.except[0]: Invalid value: "y": ${wrongCidr}; ${from}.except[1]: Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``,
  ],
  [
    'two names of one class',
    ingressBehaviour,
    classes('b'),
    26,
    'annotations.kubernetes.io/ingress.class: Invalid value: "b": can not be set when the class field is also set',
  ],
  ['two names of one class', ingressBehaviour, classes('b'), 27, ''],
  [
    'two classes',
    ingressBehaviour,
    classes('a'),
    27,
    'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are specified',
  ],
]
for (const [what, of, made, release, expected] of checks) {
  test(`1.${release}: ${what}`, () => {
    const context = contextFor({ release, requestApiVersion: 'networking.k8s.io/v1' })
    assert.equal(linesOf(of.validateCreate?.(made, context) ?? []).join('; '), expected)
  })
}

for (const [release, detail] of [
  [33, ': name is required'],
  [34, ''],
] as const)
  test(`1.${release}: a backend without a name`, () => {
    const made = inDefault({ spec: { defaultBackend: { resource: { kind: 'Thing' } } } })
    const errors = ingressBehaviour.validateCreate?.(made, contextFor({ release })) ?? []
    assert.deepEqual(linesOf(inWordsOf(errors, release)), [
      `spec.defaultBackend.resource.name: Required value${detail}`,
    ])
  })

const fieldsOf = (of: Behaviour, made: KubeObject, release: number): string[] =>
  (of.validateCreate?.(made, contextFor({ release })) ?? []).map(
    ({ field, type }) => `${field} ${type}`,
  )

test('runtime classes', () => {
  assert.deepEqual(fieldsOf(runtimeClassBehaviour, named({ handler: '' }), 35), [
    'handler FieldValueInvalid',
  ])
  assert.deepEqual(fieldsOf(runtimeClassBehaviour, named({ handler: '' }), 36), [
    'handler FieldValueRequired',
  ])
  assert.deepEqual(fieldsOf(runtimeClassBehaviour, tolerations, 34), [
    'scheduling.tolerations.tolerations[0].key FieldValueInvalid',
  ])
  assert.deepEqual(fieldsOf(runtimeClassBehaviour, tolerations, 35), [
    'scheduling.tolerations[0].key FieldValueInvalid',
  ])
})

const warningsOf = (of: Behaviour, made: KubeObject, release: number): string[] =>
  of.warningsOnCreate?.(made, contextFor({ release })) ?? []

test('warnings', () => {
  const policy = block('010.0.0.0/8')
  const shown = `${from}.cidr: non-standard CIDR value "010.0.0.0/8" is invalid: use "10.0.0.0/8"`
  assert.deepEqual(warningsOf(networkPolicyBehaviour, policy, 32), [])
  assert.deepEqual(warningsOf(networkPolicyBehaviour, policy, 33), [shown])
  const old = inDefault({ spec: {} }, { annotations: { 'kubernetes.io/ingress.class': 'a' } })
  assert.deepEqual(warningsOf(ingressBehaviour, old, 26), [])
  assert.equal(warningsOf(ingressBehaviour, old, 27).length, 1)
  const topology = (key: string) =>
    named({ allowedTopologies: [{ matchLabelExpressions: [{ key, values: ['z'] }] }] })
  const zone = topology('failure-domain.beta.kubernetes.io/zone')
  assert.deepEqual(warningsOf(storageClassBehaviour, zone, 24), [])
  assert.equal(warningsOf(storageClassBehaviour, zone, 25).length, 1)
  const master = topology('node-role.kubernetes.io/master')
  assert.deepEqual(warningsOf(storageClassBehaviour, master, 30), [])
  assert.equal(warningsOf(storageClassBehaviour, master, 31).length, 1)
  const status = { status: { loadBalancer: { ingress: [{ ip: '010.0.0.1' }] } } }
  const ofStatus = (release: number) =>
    ingressBehaviour.subresources?.status?.warningsOnUpdate?.(
      inDefault(status),
      inDefault(status),
      contextFor({ release }),
    )
  assert.deepEqual([ofStatus(32)?.length, ofStatus(33)?.length], [0, 1])
})

const changesOf = (of: Behaviour, next: Loose, old: Loose, release: number, gates: string[] = []) =>
  linesOf(of.validateUpdate?.(named(next), named(old), contextFor({ release }, gates)) ?? []).at(-1)

test('changes of storage', () => {
  const storageClass = { provisioner: 'a', volumeBindingMode: 'Immediate', reclaimPolicy: 'Delete' }
  const other = { ...storageClass, provisioner: 'b' }
  assert.equal(
    changesOf(storageClassBehaviour, other, storageClass, 35),
    'provisioner: Forbidden: updates to provisioner are forbidden.',
  )
  assert.equal(
    changesOf(storageClassBehaviour, other, storageClass, 36),
    'provisioner: Invalid value: "b": field is immutable',
  )
  const node = (nodeID: string, count = 1) => ({
    spec: { drivers: [{ name: 'd', nodeID, topologyKeys: [], allocatable: { count } }] },
  })
  const field = (release: number, next: Loose, gates: string[] = []) =>
    changesOf(csiNodeBehaviour, next, node('n'), release, gates)?.split(':')[0]
  assert.equal(field(32, node('m')), 'CSINodeDriver')
  assert.equal(field(33, node('m')), 'spec.drivers')
  assert.equal(field(33, node('n', 2)), 'spec.drivers')
  assert.equal(field(33, node('n', 2), ['MutableCSINodeAllocatableCount']), undefined)
})

test('names and ids of CSI drivers', () => {
  const node = (name: string, nodeID: string) =>
    named({ spec: { drivers: [{ name, nodeID, topologyKeys: [] }] } })
  const reported = (made: KubeObject, release: number) =>
    inWordsOf(csiNodeBehaviour.validateCreate?.(made, contextFor({ release })) ?? [], release)
      .length
  assert.deepEqual(
    [34, 35].map((release) => reported(node('', 'n'), release)),
    [2, 1],
  )
  const long = node('d', 'x'.repeat(200))
  assert.deepEqual(
    [35, 36].map((release) => reported(long, release)),
    [1, 0],
  )
})
