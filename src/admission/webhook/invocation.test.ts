/** For which requests a webhook is called, and with which version of the object. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { AdmissionRequest } from '#admission/admission.ts'
import { catalogOf, kindOf, requestOf } from '#admission/requests.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { hooksOf } from './hook.ts'
import { inSelectedNamespace, type Invocation, invocationOf, isExempt } from './invocation.ts'

const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }
const hook = (rule: Loose, more: Loose = {}) =>
  hooksOf({
    metadata: { name: 'c' },
    webhooks: [{ name: 'a.x.io', rules: [{ ...everything, ...rule }], ...more }],
  })[0]

const map = { metadata: { name: 'm', labels: { a: 'b' } } }
const scaler = (version: string, subresource = '') =>
  requestOf('CREATE', kindOf(`autoscaling/${version}`, 'horizontalpodautoscalers'), map, {
    subresource,
  })
const create = requestOf('CREATE', kindOf('v1', 'configmaps'), map)
const update = requestOf('UPDATE', kindOf('v1', 'configmaps'), map, { old: map })
const status = requestOf('UPDATE', kindOf('apps/v1', 'deployments'), map, { subresource: 'status' })
const node = requestOf('CREATE', kindOf('v1', 'nodes'), map)
// In kube-apiserver a Namespace object has itself as namespace, and is cluster-scoped nevertheless.
const namespace = requestOf('UPDATE', kindOf('v1', 'namespaces'), map, {
  namespace: 'm',
  name: 'm',
})
const alike = requestOf(
  'CREATE',
  { ...kindOf('v1', 'namespaces'), group: 'example.com' } as never,
  map,
  { namespace: 'ns' },
)
const v2 = 'autoscaling/v2beta2'

const rules: [
  what: string,
  rule: Loose,
  request: AdmissionRequest,
  expected: string | undefined,
][] = [
  ['everything', {}, create, 'v1'],
  ['its operation', { operations: ['DELETE', 'CREATE'] }, create, 'v1'],
  ['another operation', { operations: ['DELETE', 'CREATE'] }, update, undefined],
  ['its group', { apiGroups: ['apps', ''] }, create, 'v1'],
  ['another group', { apiGroups: ['apps'] }, create, undefined],
  ['its version', { apiVersions: ['v1'] }, create, 'v1'],
  ['another version', { apiVersions: ['v2'] }, create, undefined],
  ['its resource', { resources: ['configmaps'] }, create, 'v1'],
  ['another resource', { resources: ['secrets'] }, create, undefined],
  ['a subresource of it', { resources: ['configmaps/status'] }, create, undefined],
  ['itself and all of its subresources', { resources: ['configmaps/*'] }, create, 'v1'],
  ['everything, of a subresource', {}, status, undefined],
  ['all resources and subresources', { resources: ['*/*'] }, status, 'apps/v1'],
  ['one subresource of all', { resources: ['*/status'] }, status, 'apps/v1'],
  ['another subresource of all', { resources: ['*/scale'] }, status, undefined],
  ['its own subresource', { resources: ['deployments/status'] }, status, 'apps/v1'],
  ['that of another', { resources: ['replicasets/status'] }, status, undefined],
  ['all of another', { resources: ['replicasets/*'] }, status, undefined],
  ['everywhere', { scope: '*' }, node, 'v1'],
  ['the cluster', { scope: 'Cluster' }, node, 'v1'],
  ['the cluster, of what is in a namespace', { scope: 'Cluster' }, create, undefined],
  ['the cluster, of a namespace', { scope: 'Cluster' }, namespace, 'v1'],
  ['namespaces, of what is in one', { scope: 'Namespaced' }, create, 'v1'],
  ['namespaces, of what is in none', { scope: 'Namespaced' }, node, undefined],
  ['namespaces, of what is only called so', { scope: 'Namespaced' }, alike, 'v1'],
  ['namespaces, of a namespace', { scope: 'Namespaced' }, namespace, undefined],
  ['an unknown scope', { scope: 'Planet' }, create, undefined],
]
for (const [what, rule, request, expected] of rules) {
  test(`a rule for ${what}`, () =>
    assert.equal(
      invocationOf(hook(rule, { matchPolicy: 'Exact' }), request)?.kind.apiVersion,
      expected,
    ))
}

const equivalents: [
  what: string,
  rule: Loose,
  request: AdmissionRequest,
  policy: string,
  expected: string | undefined,
][] = [
  [
    'the other version',
    { apiGroups: ['autoscaling'], apiVersions: ['v2beta2'] },
    scaler('v1'),
    'Equivalent',
    v2,
  ],
  [
    'the other version',
    { apiGroups: ['autoscaling'], apiVersions: ['v2beta2'] },
    scaler('v1'),
    'Exact',
    undefined,
  ],
  [
    'its own before others',
    { apiVersions: ['v2beta2', 'v1'] },
    scaler('v1'),
    'Equivalent',
    'autoscaling/v1',
  ],
  [
    'the other version of another resource',
    { apiVersions: ['v2beta2'], resources: ['pods'] },
    scaler('v1'),
    'Equivalent',
    undefined,
  ],
  [
    'the other version with its subresource',
    { apiVersions: ['v2beta2'], resources: ['*/status'] },
    scaler('v1', 'status'),
    'Equivalent',
    v2,
  ],
]
for (const [what, rule, request, matchPolicy, expected] of equivalents) {
  test(`${matchPolicy}: ${what}`, () =>
    assert.equal(invocationOf(hook(rule, { matchPolicy }), request)?.kind.apiVersion, expected))
}

test('a version without the subresource is not equivalent', () => {
  const kind = kindOf('autoscaling/v1', 'horizontalpodautoscalers')
  const kinds = kind.resource.kinds.map((one) =>
    one.version === 'v2beta2' ? { ...one, subresources: new Map() } : one,
  )
  const bare = { ...kind, resource: { ...kind.resource, kinds } } as never
  const rule = { apiVersions: ['v2beta2'], resources: ['*/status'] }
  const requested = requestOf('UPDATE', bare, map, { subresource: 'status' })
  assert.equal(invocationOf(hook(rule, { matchPolicy: 'Equivalent' }), requested), undefined)
})

const objectSelector = { matchLabels: { a: 'b' } }
const other = { metadata: { name: 'm', labels: { a: 'c' } } }
const bare = { metadata: { name: 'm' } }
const labels: [
  what: string,
  object: Loose | undefined,
  old: Loose | undefined,
  expected: boolean,
][] = [
  ['a new object that has them', map, undefined, true],
  ['a new object of others', other, undefined, false],
  ['a new object of none', bare, undefined, false],
  ['an object that gets them', map, other, true],
  ['an object that loses them', bare, map, true],
  ['an object that never had them', bare, other, false],
  ['a deleted object that had them', undefined, map, true],
  ['options, which have no metadata', {}, undefined, false],
]
for (const [what, object, old, expected] of labels) {
  test(`by labels: ${what}`, () => {
    const request = requestOf('UPDATE', kindOf('v1', 'configmaps'), object, { old: old as never })
    assert.equal(invocationOf(hook({}, { objectSelector }), request) !== undefined, expected)
  })
}

const namespaceSelector = { matchLabels: { team: 'a' } }
const inItself = (
  operation: 'CREATE' | 'UPDATE' | 'DELETE',
  team: string | undefined,
  more: Loose = {},
) => {
  const object = operation === 'DELETE' ? undefined : { metadata: { name: 'ns', labels: { team } } }
  return requestOf(operation, kindOf('v1', 'namespaces'), object, { name: 'ns', ...more })
}
const namespaces: [
  what: string,
  request: AdmissionRequest,
  expected: boolean | undefined | string,
][] = [
  ['of an object in it', create, true],
  [
    'of an object in another',
    requestOf('CREATE', kindOf('v1', 'configmaps'), map, { namespace: 'other' }),
    false,
  ],
  [
    'of an object in none that is there',
    requestOf('CREATE', kindOf('v1', 'configmaps'), map, { namespace: 'gone' }),
    'namespaces "gone" not found',
  ],
  ['of what is in none', node, undefined],
  ['of a new namespace that has them', inItself('CREATE', 'a'), true],
  ['of a new namespace that has others', inItself('CREATE', 'b'), false],
  ['of a namespace that loses them', inItself('UPDATE', 'b'), false],
  ['of a namespace that keeps them', inItself('UPDATE', 'a'), true],
  [
    'of the status of a namespace, as it is there',
    inItself('UPDATE', 'b', { subresource: 'status' }),
    true,
  ],
  ['of a namespace that is being deleted, as stored', inItself('DELETE', undefined), true],
]
for (const [what, request, expected] of namespaces) {
  test(`by labels of the namespace: ${what}`, async () => {
    const reader = new MemoryReader()
    reader.put('', 'namespaces', { metadata: { name: 'ns', labels: { team: 'a' } } })
    reader.put('', 'namespaces', { metadata: { name: 'other', labels: { team: 'b' } } })
    const invocation = invocationOf(
      hook({ resources: ['*/*'] }, { namespaceSelector }),
      request,
    ) as Invocation
    const selected = invocation.byNamespace
      ? await inSelectedNamespace(invocation, request, reader).catch(
          (error: Error) => error.message,
        )
      : undefined
    assert.equal(selected, expected)
    const always = invocationOf(hook({ resources: ['*/*'] }, { namespaceSelector: {} }), request)
    assert.equal(always?.byNamespace, false)
  })
}

const group = 'admissionregistration.k8s.io/v1'
const exempt: [apiVersion: string, plural: string, always: boolean, withGate: boolean][] = [
  [group, 'mutatingwebhookconfigurations', true, true],
  [group, 'validatingwebhookconfigurations', true, true],
  [group, 'validatingadmissionpolicies', true, true],
  [group, 'mutatingadmissionpolicybindings', true, true],
  ['authentication.k8s.io/v1', 'tokenreviews', false, true],
  ['authorization.k8s.io/v1', 'selfsubjectaccessreviews', false, true],
  ['v1', 'configmaps', false, false],
]
const newest = catalogOf(37)
for (const [apiVersion, plural, always, withGate] of exempt)
  test(`out of reach of webhooks: ${plural}`, () => {
    const request = requestOf('CREATE', kindOf(apiVersion, plural, newest), map)
    assert.deepEqual([isExempt(request, false), isExempt(request, true)], [always, withGate])
  })

test('a kind with the same name in another group is intercepted', () => {
  const alike = { ...kindOf(group, 'mutatingwebhookconfigurations'), group: 'example.com' }
  assert.equal(isExempt(requestOf('CREATE', alike as never, map), true), false)
})
