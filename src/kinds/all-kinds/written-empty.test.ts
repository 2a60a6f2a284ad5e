/** The cases in which kube-apiserver distinguishes an empty list or map from an absent one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import type { Context } from '#kinds/kind.ts'
import { nodeBehaviour } from '#kinds/core/node/behaviour.ts'
import { configMapBehaviour } from '#kinds/core/config-map/behaviour.ts'
import { networkPolicyBehaviour } from '#kinds/networking/network-policy/behaviour.ts'
import { webhookConfigurationBehaviour } from '#kinds/admissionregistration/webhook-configuration.ts'
import { csiStorageCapacityBehaviour } from '#kinds/storage/csi-storage-capacity/behaviour.ts'
import { storageClassBehaviour } from '#kinds/storage/storage-class/behaviour.ts'

const context = (requestApiVersion?: string): Context => ({
  release: 22,
  feature: () => true,
  now: '2020-01-02T03:04:05Z',
  namespace: 'default',
  ...(requestApiVersion !== undefined && { requestApiVersion }),
})
const metadata = () => ({ name: 'a', namespace: 'default', generation: 1, resourceVersion: '1' })

/**
 * The object as it was and as it is written, with a field of it written empty where one is named.
 */
function pair(body: () => Loose, holderOf?: (object: Loose) => object, field = '') {
  const make = () => ({ metadata: metadata(), ...body() }) as unknown as KubeObject
  const next = make()
  if (holderOf !== undefined) rememberEmpty(holderOf(next), field)
  return { next, old: make() }
}

const policy = () => ({ spec: { podSelector: {}, policyTypes: ['Ingress'] } as Loose })
const generations: [
  what: string,
  object: ReturnType<typeof pair>,
  request: string,
  generation: number,
][] = [
  ['the same policy', pair(policy), 'networking.k8s.io/v1', 1],
  ['egress: []', pair(policy, ({ spec }) => spec, 'egress'), 'networking.k8s.io/v1', 2],
  [
    'a default took the place',
    pair(policy, ({ spec }) => spec, 'policyTypes'),
    'networking.k8s.io/v1',
    1,
  ],
  ['the same policy, by extensions', pair(policy), 'extensions/v1beta1', 2],
]
for (const [what, { next, old }, request, generation] of generations) {
  test(`generation of a network policy: ${what}`, () => {
    networkPolicyBehaviour.prepareForUpdate?.(next, old, context(request))
    assert.equal(next.metadata.generation, generation)
  })
}

test('webhooks: [] differs from an absent field', () => {
  const { next, old } = pair(
    () => ({}),
    (object) => object,
    'webhooks',
  )
  webhookConfigurationBehaviour.prepareForUpdate?.(next, old, context())
  assert.equal(next.metadata.generation, 2)
})

test('empty parameters differ from absent ones', () => {
  const { next, old } = pair(
    () => ({ provisioner: 'a.b/c' }),
    (object) => object,
    'parameters',
  )
  const fields = storageClassBehaviour
    .validateUpdate?.(next, old, context())
    .map(({ field }) => String(field))
  assert.ok(fields?.includes('parameters'))
})

test('an immutable config map rejects binaryData: {}, and accepts data: {}, which is a default', () => {
  const refused = (written: string) => {
    const { next, old } = pair(
      () => ({ immutable: true }),
      (object) => object,
      written,
    )
    return configMapBehaviour
      .validateUpdate?.(next, old, context())
      .map(({ field }) => String(field))
  }
  assert.deepEqual(refused('binaryData'), ['binaryData'])
  assert.deepEqual(refused('data'), [])
})

test('a node with an empty allocatable gets its capacity', () => {
  const { next, old } = pair(() => ({ spec: {}, status: { capacity: { cpu: '1' } } }))
  const created = structuredClone(next)
  nodeBehaviour.subresources?.status?.prepareForUpdate?.(next, old, context('v1'))
  nodeBehaviour.prepareForCreate?.(created, context('v1'))
  for (const { status } of [next, created]) assert.deepEqual(status.allocatable, { cpu: '1' })
})

test('an empty topology is shown as written', () => {
  const { next, old } = pair(
    () => ({ storageClassName: 's', nodeTopology: {} }),
    ({ nodeTopology }) => nodeTopology,
    'matchLabels',
  )
  old.nodeTopology = { matchLabels: { a: 'b' } }
  const [error] = csiStorageCapacityBehaviour.validateUpdate?.(next, old, context()) ?? []
  assert.equal(
    error?.message,
    'Invalid value: v1.LabelSelector{MatchLabels:map[string]string{}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable',
  )
})
