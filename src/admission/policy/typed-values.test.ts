/** Typed values of built-in kinds in the expressions of policies, which 1.36 shows as JSON. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf, pod, podKind, requestOf } from '#admission/requests.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { configMap, constraints, creation, Policies, rule } from './policies.suite.ts'

const container = (memory: string): Loose => ({
  name: 'c',
  image: 'i',
  resources: { requests: { memory } },
})
const podOf = (memory: string, spec: Loose = {}): KubeObject =>
  pod(
    { containers: [container(memory)], ...spec },
    { labels: { a: 'b' }, finalizers: ['x.io/a', 'x.io/b'] },
  )
const matchConstraints = constraints({ resourceRules: [rule(['pods'])] })
const requests = (name: string) => `${name}.spec.containers[0].resources.requests`

const noKey = (type: string) => `unsupported map key type: types.${type}`
const noIndex = (type: string) => `unsupported index type: types.${type}`
const noOverload = 'no such overload'

/** An expression, and what becomes of it in 1.37 and 1.36: its value or its error. */
const rows: readonly (readonly [string, boolean | string, boolean | string])[] = [
  ['object.spec == oldObject.spec', true, false],
  ['object.spec.containers == oldObject.spec.containers', true, false],
  ['object.spec.containers[0] in oldObject.spec.containers', true, false],
  [`${requests('object')} == ${requests('oldObject')}`, false, false],
  ['object.spec != oldObject.spec', false, true],
  ['object.spec == object.metadata', false, false],
  ['object.spec.containers[0].resources == 1', noOverload, false],
  ['object.spec == null', false, false],
  ['1 == object.spec', false, false],
  ['object.metadata.labels == 1', noOverload, false],
  ['object.metadata.finalizers == 1', noOverload, false],
  ["object.metadata.labels == {'a': 'b'}", true, true],
  ["object.metadata.labels == {'a': 1}", false, false],
  ["object.spec.containers[0].resources == {'requests': {'memory': '1024'}}", true, true],
  ["object.spec.containers[0].resources == {'requests': 1}", noOverload, false],
  ["object.metadata.finalizers == ['x.io/a', 'x.io/b']", true, true],
  ['1 in object.metadata.labels', noKey('Int'), false],
  ['1u in object.spec', noKey('Uint'), false],
  ['null in object.spec', noKey('Null'), false],
  ['[1] in object.spec', 'unsupported map key type: *types.baseList', false],
  ['1 in object.metadata.finalizers', false, false],
  ["object.metadata.labels[true] == 'a'", noKey('Bool'), 'no such key: true'],
  ['object.metadata.labels[?1].hasValue()', noKey('Int'), false],
  ["object.metadata.finalizers[1] == 'x.io/b'", true, true],
  ["object.metadata.finalizers[1u] == 'x.io/b'", noIndex('Uint'), true],
  ["object.metadata.finalizers[1.0] == 'x.io/b'", noIndex('Double'), true],
  ["object.metadata.finalizers[7u] == 'x'", 'index out of bounds: 7', 'index out of bounds: 7'],
  ['dyn(request) == 1', noOverload, false],
  ['1 in dyn(request).userInfo', noKey('Int'), false],
  ["dyn(request).userInfo.groups[0u] == 'system:masters'", noIndex('Uint'), true],
  ['dyn(request).kind == dyn(request).requestKind', true, true],
  ['dyn(request).kind == dyn(request).resource', false, false],
  ['dyn(request).options == 1', false, false],
  ['dyn(namespaceObject) == 1', noOverload, false],
  ['1 in dyn(namespaceObject).metadata.labels', noKey('Int'), false],
  ["namespaceObject.metadata.labels.team == 'a'", true, true],
]

async function check(expression: string, minor: number): Promise<string> {
  const policies = new Policies('validating', minor)
    .policy('p', { matchConstraints, validations: [{ expression }] })
    .bind('p')
  const request = requestOf('UPDATE', podKind, podOf('1024'), { old: podOf('1Ki') })
  return policies.outcome(request)
}

const outcomeOf = (expression: string, result: boolean | string): string => {
  if (result === true) return 'admitted'
  const why =
    result === false
      ? `failed expression: ${expression}`
      : `expression '${expression}' resulted in error: ${result}`
  return `422 Invalid pods "p" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: ${why}`
}

for (const [expression, newer, older] of rows)
  test(expression, async () => {
    assert.equal(await check(expression, 37), outcomeOf(expression, newer))
    assert.equal(await check(expression, 36), outcomeOf(expression, older))
  })

/** Differences of two specs that are semantically none, or are one. */
const specs: readonly (readonly [string, Loose, Loose, boolean])[] = [
  ['an empty list is an absent one', { volumes: [] }, {}, true],
  ['an empty map is an absent one', { nodeSelector: {} }, {}, true],
  ['a pointer to zero is not', { terminationGracePeriodSeconds: 0 }, {}, false],
  ['zero without a pointer is', { hostNetwork: false }, {}, true],
  [
    'an empty struct is not',
    { volumes: [{ name: 'a', emptyDir: {} }] },
    { volumes: [{ name: 'a' }] },
    false,
  ],
  [
    'lists in another order differ',
    { tolerations: [{ key: 'a' }, { key: 'b' }] },
    { tolerations: [{ key: 'b' }, { key: 'a' }] },
    false,
  ],
  [
    'maps with other values differ',
    { nodeSelector: { a: '1' } },
    { nodeSelector: { a: '2' } },
    false,
  ],
]
for (const [title, spec, old, same] of specs)
  test(title, async () => {
    const policies = new Policies('validating')
      .policy('p', {
        matchConstraints,
        validations: [{ expression: 'object.spec == oldObject.spec' }],
      })
      .bind('p')
    const request = requestOf('UPDATE', podKind, podOf('1', spec), { old: podOf('1000m', old) })
    assert.equal((await policies.outcome(request)) === 'admitted', same)
  })

const cannot = (type: string) =>
  `JSONPath valueExpression evaluated to a type that could not marshal to JSON: type conversion error from '${type}' to '*structpb.Value'`
const condition = [{ name: 'c', expression: 'true' }]
const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }

/** The value of a patch, its policy, and the annotations or the reason in 1.37 and 1.36. */
const patches: readonly (readonly [string, Loose, Loose | string, Loose])[] = [
  ['object.metadata.labels', {}, { a: 'b' }, { a: 'b' }],
  ['object.metadata.labels', { matchConditions: condition }, cannot('map(dyn, dyn)'), { a: 'b' }],
  ['{"k": object.kind}', { matchConditions: condition }, { k: 'Pod' }, { k: 'Pod' }],
  ['params.data', { paramKind }, cannot('map(dyn, dyn)'), { p: 'q' }],
  ['{"k": string(has(params.kind))}', { paramKind }, { k: 'false' }, { k: 'true' }],
  ['{"k": params.data.p}', { paramKind }, { k: 'q' }, { k: 'q' }],
  ['namespaceObject.metadata.labels', {}, cannot('map(dyn, dyn)'), { team: 'a' }],
]
for (const [value, spec, newer, older] of patches)
  test(`${value} in a JSON patch`, async () => {
    for (const [minor, expected] of [
      [37, newer],
      [36, older],
    ] as const) {
      const expression = `[JSONPatch{op: 'add', path: '/metadata/annotations', value: ${value}}]`
      const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression } }]
      const policies = new Policies('mutating', minor)
        .policy('p', { reinvocationPolicy: 'Never', matchConstraints, ...spec, mutations })
        .bind('p', spec.paramKind ? { paramRef: { name: 'par' } } : {})
      policies.reader.put('', 'configmaps', configMap({ p: 'q' }, { name: 'par', namespace: 'ns' }))
      const request = creation(podOf('1'), {}, kindOf('v1', 'pods'))
      const outcome = await policies.outcome(request)
      if (typeof expected === 'string') assert.ok(outcome.endsWith(expected), outcome)
      else assert.deepEqual([outcome, request.object?.metadata.annotations], ['admitted', expected])
    }
  })
