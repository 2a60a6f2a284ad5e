import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { podNodeSelector } from './pod-node-selector.ts'
import { outcome, pod, podKind, requestOf } from './requests.suite.ts'

const name =
  "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const value =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

const cases: [text: string, own: Loose | undefined, expected: unknown][] = [
  ['', undefined, undefined],
  ['env=test,infra=x', undefined, { env: 'test', infra: 'x' }],
  ['env=test,infra=x', { env: 'test', more: '1' }, { env: 'test', infra: 'x', more: '1' }],
  [
    'env=test,infra=x',
    { env: 'other' },
    '403 pods "p" is forbidden: pod node label selector conflicts with its namespace node label selector',
  ],
  [' a = b ', undefined, { a: 'b' }],
  ['a=', undefined, { a: '' }],
  ['a', undefined, '500 invalid selector: [a]'],
  ['a=b=c', undefined, '500 invalid selector: [a b c]'],
  ['a=b,', undefined, '500 invalid selector: []'],
  ['a in (b)', undefined, '500 invalid selector: [a in (b)]'],
  ['A B=c', undefined, `500 <nil>: Invalid value: "A B": name part must ${name}`],
  [
    '=',
    undefined,
    `500 <nil>: Invalid value: "": name part must be non-empty; name part must ${name}`,
  ],
  ['a=b c', undefined, `500 [a]: Invalid value: "b c": ${value}`],
  [
    `a=${'x'.repeat(64)}`,
    undefined,
    `500 [a]: Invalid value: "${'x'.repeat(64)}": must be no more than 63 characters`,
  ],
]
for (const [text, own, expected] of cases)
  test(`a namespace with ${JSON.stringify(text)}, a pod with ${JSON.stringify(own)}`, async () => {
    const reader = new MemoryReader()
    const annotations = { 'scheduler.alpha.kubernetes.io/node-selector': text }
    reader.put('', 'namespaces', { metadata: { name: 'ns', annotations } })
    const request = requestOf('CREATE', podKind, pod({ nodeSelector: own }))
    const stated = await outcome(podNodeSelector(22, undefined), request, reader)
    const found = stated === 'admitted' ? request.object?.spec.nodeSelector : stated
    assert.deepEqual(found, expected)
  })

test('the configuration applies to namespaces without a selector', async () => {
  const plugin = podNodeSelector(22, {
    podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'a=b', ns: 'a=b,c=d' },
  })
  const reader = new MemoryReader()
  reader.put('', 'namespaces', { metadata: { name: 'ns' } })
  const check = async (nodeSelector: Loose) => {
    const request = requestOf('CREATE', podKind, pod({ nodeSelector }))
    const stated = await outcome(plugin, request, reader)
    return stated === 'admitted' ? request.object?.spec.nodeSelector : stated
  }
  assert.deepEqual(await check({ c: 'd' }), { a: 'b', c: 'd' })
  assert.equal(
    await check({ c: 'e' }),
    '403 pods "p" is forbidden: pod node label selector labels conflict with its namespace whitelist',
  )
  assert.equal(
    await outcome(plugin, requestOf('CREATE', podKind, pod(), { namespace: 'x' }), reader),
    '500 namespace x does not exist',
  )
})
