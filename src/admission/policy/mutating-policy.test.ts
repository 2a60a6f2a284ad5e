/** The results of mutating policies, the errors of mutations, and the policies that run twice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdmissionPlugin } from '#admission/admission.ts'
import { kindOf, pod, podKind, requestOf } from '#admission/requests.suite.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { configMap, constraints, creation, mapKind, Policies, rule } from './policies.suite.ts'

const apply = (expression: string): Loose => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
})
const patch = (expression: string): Loose => ({
  patchType: 'JSONPatch',
  jsonPatch: { expression },
})
const withMutations = (...mutations: Loose[]): Loose => ({ reinvocationPolicy: 'Never', mutations })
const onPods = { matchConstraints: constraints({ resourceRules: [rule(['pods'])] }) }

const denied = (why: string) =>
  `403 Invalid policy 'p' with binding 'p-binding' denied request: ${why}`

/** The object, the mutations, and the resulting object or the rejection. */
const cases: [string, KubeObject, Loose, Json | string][] = [
  [
    'a label',
    configMap({ a: '1' }),
    withMutations(apply("Object{metadata: Object.metadata{labels: {'x': 'y'}}}")),
    configMap({ a: '1' }, { labels: { x: 'y' } }) as never,
  ],
  [
    'each sees what those before it made',
    configMap({ a: '1' }),
    withMutations(
      apply("Object{data: {'b': '2'}}"),
      apply("Object{data: {'count': string(size(object.data))}}"),
    ),
    configMap({ a: '1', b: '2', count: '2' }) as never,
  ],
  [
    'patches',
    configMap({ a: '1' }),
    withMutations(
      patch(
        "[JSONPatch{op: 'add', path: '/data/b', value: object.data.a}, JSONPatch{op: 'move', from: '/data/a', path: '/data/' + jsonpatch.escapeKey('c')}]",
      ),
    ),
    configMap({ b: '1', c: '1' }) as never,
  ],
  [
    'objects as values of patches',
    configMap({ a: '1' }),
    withMutations(
      patch(
        "[JSONPatch{op: 'add', path: '/metadata/labels', value: Object.metadata.labels{x: 'y'}}]",
      ),
    ),
    configMap({ a: '1' }, { labels: { x: 'y' } }) as never,
  ],
  [
    'a patch whose test fails',
    configMap({ a: '1' }),
    withMutations(
      patch(
        "[JSONPatch{op: 'test', path: '/data/a', value: '2'}, JSONPatch{op: 'remove', path: '/data/a'}]",
      ),
    ),
    configMap({ a: '1' }) as never,
  ],
  [
    'a patch that does not apply',
    configMap({ a: '1' }),
    withMutations(patch("[JSONPatch{op: 'copy', from: '/x/y', path: '/data/y'}]")),
    denied(
      'JSON Patch: copy operation does not apply: doc is missing from path: /x/y: missing value',
    ),
  ],
  [
    'a patch that does not apply, of a policy that fails open',
    configMap({ a: '1' }),
    {
      ...withMutations(
        patch("[JSONPatch{op: 'remove', path: '/x'}]"),
        apply("Object{data: {'b': '2'}}"),
      ),
      failurePolicy: 'Ignore',
    },
    configMap({ a: '1', b: '2' }) as never,
  ],
  [
    'a field that the kind does not have',
    configMap({ a: '1' }),
    withMutations(apply('Object{spec: Object.spec{a: 1}}')),
    denied(
      'error applying patch: failed to convert patch object to typed object: .spec: field not declared in schema',
    ),
  ],
  [
    'a patch with a field that the kind does not have',
    configMap({ a: '1' }),
    withMutations(patch("[JSONPatch{op: 'add', path: '/x', value: 1}]")),
    '500 InternalError Internal error occurred: strict decoding error: unknown field "x"',
  ],
  [
    'a type in another place than its own',
    configMap({ a: '1' }),
    withMutations(apply('Object{metadata: Object.spec{name: "x"}}')),
    denied(
      'type mismatch: unexpected type name "Object.spec", expected "Object.metadata", which matches field name path from root Object type',
    ),
  ],
  [
    'an error',
    configMap({ a: '1' }),
    withMutations(apply('Object{data: object.none}')),
    denied("expression 'Object{data: object.none}' resulted in error: no such key: none"),
  ],
  [
    'an expression that does not compile',
    configMap({ a: '1' }),
    withMutations(apply('1')),
    denied('must evaluate to Object but got int'),
  ],
  [
    'atomic parts',
    pod({ nodeSelector: { a: 'b' } }),
    {
      ...onPods,
      ...withMutations(
        apply(
          "Object{spec: Object.spec{nodeSelector: {'a': 'c'}, containers: [Object.spec.containers{name: 'c', args: ['x']}]}}",
        ),
      ),
    },
    denied(
      'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.nodeSelector, .spec.containers[0].args',
    ),
  ],
  [
    'conditions that fail',
    configMap({ a: '1' }),
    {
      ...withMutations(apply("Object{data: {'b': '2'}}")),
      matchConditions: [{ name: 'c', expression: 'object.none == 1' }],
    },
    denied("expression 'object.none == 1' resulted in error: no such key: none"),
  ],
  [
    'conditions that do not hold',
    configMap({ a: '1' }),
    {
      ...withMutations(apply("Object{data: {'b': '2'}}")),
      matchConditions: [{ name: 'c', expression: "object.metadata.name == 'd'" }],
    },
    configMap({ a: '1' }) as never,
  ],
]
for (const [title, object, spec, expected] of cases)
  test(title, async () => {
    const policies = new Policies('mutating').policy('p', spec).bind('p')
    const request = creation(object, {}, object.kind === 'Pod' ? podKind : mapKind)
    const outcome = await policies.outcome(request)
    const actual = outcome === 'admitted' ? request.object : outcome
    assert.deepEqual(structuredClone(actual), structuredClone(expected))
  })

test('items of keyed lists are merged, and defaults are filled in', async () => {
  const text =
    "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', image: 'j'}, Object.spec.containers{name: 'd', image: 'k'}]}}"
  const policies = new Policies('mutating').policy('p', {
    ...onPods,
    ...withMutations(apply(text)),
  })
  const request = creation(pod(), {}, podKind)
  assert.equal(await policies.bind('p').outcome(request), 'admitted')
  const containers: Loose[] = request.object?.spec.containers
  assert.deepEqual(
    containers.map(({ name, image, imagePullPolicy }) => [name, image, imagePullPolicy]),
    [
      ['c', 'j', 'Always'],
      ['d', 'k', 'Always'],
    ],
  )
})

const unreadable: [title: string, mutation: Loose, expected: string][] = [
  [
    'an applied value that cannot be read',
    apply("Object{data: {'a': 'not base64'}}"),
    denied(
      'unable to convert unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data at input byte 3',
    ),
  ],
  [
    'a patched value that cannot be read',
    patch("[JSONPatch{op: 'add', path: '/data', value: {'a': 'not base64'}}]"),
    '500 InternalError Internal error occurred: illegal base64 data at input byte 3',
  ],
  [
    'a patched value of a wrong type',
    patch("[JSONPatch{op: 'add', path: '/immutable', value: 'x'}]"),
    '500 InternalError Internal error occurred: json: cannot unmarshal string into Go struct field Secret.immutable of type bool',
  ],
]
for (const [title, mutation, expected] of unreadable)
  test(title, async () => {
    const policies = new Policies('mutating').policy('p', {
      matchConstraints: constraints({ resourceRules: [rule(['secrets'])] }),
      ...withMutations(mutation),
    })
    const secret = { ...configMap({}), kind: 'Secret' }
    const request = creation(secret, {}, kindOf('v1', 'secrets'))
    assert.equal(await policies.bind('p').outcome(request), expected)
  })

test("an object of another version than the matching rule's cannot be converted back if it is built-in", async () => {
  const scalers = kindOf('autoscaling/v2beta2', 'horizontalpodautoscalers')
  const inV1 = rule(['horizontalpodautoscalers'], ['autoscaling'], ['*'], ['v1'])
  const policies = new Policies('mutating').policy('p', {
    matchConstraints: constraints({ resourceRules: [inV1] }),
    ...withMutations(apply("Object{metadata: Object.metadata{labels: {'a': 'b'}}}")),
  })
  const scaler = { ...configMap(undefined), kind: 'HorizontalPodAutoscaler', spec: {} }
  const request = creation(scaler, {}, scalers)
  assert.equal(
    await policies.bind('p').outcome(request),
    denied(
      'converting (v1.HorizontalPodAutoscaler) to (v2beta2.HorizontalPodAutoscaler): unknown conversion',
    ),
  )
})

test('the message has the first problem, the causes have all', async () => {
  const wrong = (path: string) => withMutations(patch(`[JSONPatch{op: 'remove', path: '${path}'}]`))
  const policies = new Policies('mutating')
  for (const name of ['b', 'a']) policies.policy(name, wrong(`/${name}`)).bind(name)
  const outcome = await policies.outcome(creation(configMap({})))
  assert.match(
    outcome,
    /^403 Invalid policy 'a' with binding 'a-binding' denied request: JSON Patch/,
  )
})

test('deletions are not mutated', async () => {
  const policies = new Policies('mutating').policy('p', withMutations(apply('1'))).bind('p')
  const request = requestOf('DELETE', mapKind, undefined, { old: configMap({}), name: 'c' })
  assert.equal(await policies.outcome(request), 'admitted')
})

const count = (key: string) =>
  apply(`Object{data: {'${key}': string(int(object.data.?${key}.orValue('0')) + 1)}}`)

for (const [policy, expected] of [
  ['Never', '1'],
  ['IfNeeded', '2'],
] as const)
  test(`reinvocation ${policy}: a later policy changes the object`, async () => {
    const policies = new Policies('mutating')
      .policy('a', { reinvocationPolicy: policy, mutations: [count('a')] })
      .bind('a')
      .policy('b', withMutations(count('b')))
      .bind('b')
    const request = creation(configMap({}))
    assert.equal(await policies.outcome(request), 'admitted')
    assert.deepEqual(request.object?.data, { a: expected, b: '1' })
  })

test('reinvocation: another plugin causes a second round', async () => {
  const seen: number[] = []
  const other: AdmissionPlugin = {
    name: 'Other',
    mutate(request) {
      seen.push(request.round ?? 0)
      request.reinvoke = true
    },
  }
  const spec = { reinvocationPolicy: 'Never', mutations: [count('a')] }
  const policies = new Policies('mutating', 37, false, [other]).policy('a', spec).bind('a')
  const request = creation(configMap({}))
  assert.equal(await policies.outcome(request), 'admitted')
  assert.equal(request.object?.data.a, '1')
  assert.deepEqual(seen, [0, 1])
})
