/** The properties of a webhook that are read from its configuration, and their defaults. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { matchesLabels } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { type Hook, hooksOf } from './hook.ts'
import { HookSource } from './hook-source.ts'

const configuration = (name: string, ...webhooks: Loose[]): KubeObject => ({
  metadata: { name },
  webhooks,
})
const only = (fields: Loose): Hook => hooksOf(configuration('c', { name: 'a.x.io', ...fields }))[0]
const team = { matchLabels: { team: 'a' } }
const selects = (hook: Hook, which: 'namespaceSelector' | 'objectSelector') =>
  [undefined, { team: 'a' }, { team: 'b' }].map((labels) => matchesLabels(hook[which], labels))

const rows: [what: string, fields: Loose, read: (hook: Hook) => unknown, expected: unknown][] = [
  ['no time', {}, (hook) => hook.timeoutMs, 10_000],
  ['a time', { timeoutSeconds: 30 }, (hook) => hook.timeoutMs, 30_000],
  ['no versions', {}, (hook) => hook.reviewVersions, ['v1beta1']],
  ['versions', { admissionReviewVersions: ['v2', 'v1'] }, (h) => h.reviewVersions, ['v2', 'v1']],
  ['no policy of failures', {}, (hook) => hook.failsOpen, false],
  ['Fail', { failurePolicy: 'Fail' }, (hook) => hook.failsOpen, false],
  ['Ignore', { failurePolicy: 'Ignore' }, (hook) => hook.failsOpen, true],
  ['no policy of matches', {}, (hook) => hook.equivalent, false],
  ['Exact', { matchPolicy: 'Exact' }, (hook) => hook.equivalent, false],
  ['Equivalent', { matchPolicy: 'Equivalent' }, (hook) => hook.equivalent, true],
  ['no policy of reinvocation', {}, (hook) => hook.reinvocable, false],
  ['Never', { reinvocationPolicy: 'Never' }, (hook) => hook.reinvocable, false],
  ['IfNeeded', { reinvocationPolicy: 'IfNeeded' }, (hook) => hook.reinvocable, true],
  ['without side effects', {}, (hook) => hook.sideEffects, undefined],
  ['side effects', { sideEffects: 'Some' }, (hook) => hook.sideEffects, 'Some'],
  ['no selector', {}, (h) => selects(h, 'namespaceSelector'), [true, true, true]],
  [
    'of namespaces',
    { namespaceSelector: team },
    (h) => selects(h, 'namespaceSelector'),
    [false, true, false],
  ],
  [
    'of objects',
    { objectSelector: team },
    (h) => selects(h, 'objectSelector'),
    [false, true, false],
  ],
  [
    'an empty selector',
    { objectSelector: {} },
    (h) => selects(h, 'objectSelector'),
    [true, true, true],
  ],
  ['no rules', {}, (hook) => hook.rules, []],
  [
    'an empty rule',
    { rules: [{}] },
    (hook) => hook.rules,
    [{ operations: [], apiGroups: [], apiVersions: [], resources: [], scope: '*' }],
  ],
  [
    'resources',
    { rules: [{ resources: ['pods', 'pods/log', '*/*', 'a/b/c'], scope: 'Cluster' }] },
    (hook) => [hook.rules[0].resources, hook.rules[0].scope],
    [
      [
        ['pods', ''],
        ['pods', 'log'],
        ['*', '*'],
        ['a', 'b/c'],
      ],
      'Cluster',
    ],
  ],
  ['no client', {}, (hook) => hook.client, {}],
]
for (const [what, fields, read, expected] of rows) {
  test(`a webhook with ${what}`, () => assert.deepEqual(read(only(fields)), expected))
}

test('two equal webhooks are different webhooks, in one configuration or in two', () => {
  const twice = [{ name: 'a.x.io' }, { name: 'a.x.io' }, { name: 'b.x.io' }]
  const hooks = [...hooksOf(configuration('c', ...twice)), ...hooksOf(configuration('d', ...twice))]
  assert.equal(new Set(hooks.map(({ id }) => id)).size, hooks.length)
  assert.deepEqual(hooksOf({ metadata: { name: 'none' } }), [])
})

const plural = 'mutatingwebhookconfigurations'
test('webhooks are sorted by the names of their configurations, then by their order', async () => {
  const reader = new MemoryReader()
  const put = (name: string, ...webhooks: string[]) =>
    reader.put(
      'admissionregistration.k8s.io',
      plural,
      configuration(name, ...webhooks.map((one) => ({ name: one }))),
    )
  put('b', 'b1', 'a2')
  const source = new HookSource(plural)
  await source.follow(reader)
  const names = () => source.hooks.map(({ name }) => name).join(' ')
  assert.equal(names(), 'b1 a2')
  put('c', 'c1')
  put('a', 'a1')
  put('Z', 'z1')
  assert.equal(names(), 'z1 a1 b1 a2 c1')
  put('b', 'other')
  assert.equal(names(), 'z1 a1 other c1')
  reader.remove('admissionregistration.k8s.io', plural, '', 'b')
  assert.equal(names(), 'z1 a1 c1')
})
