/** YAML lists equal the text of the whole list, whatever their items and the order of turns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf } from '#admission/requests.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import type { Transform } from '#codec/media-type.ts'
import { encodeYaml } from '#codec/yaml.ts'
import type { Answer } from '#verbs/answer.ts'
import { entryOf } from '#watchcache/picture.suite.ts'
import type { Exchange } from '#http/exchange.ts'
import { encodeList } from './other-lists.ts'
import { RequestTurns } from './request-turns.ts'
import type { Shape } from './shape.ts'
import { yamlList } from './yaml-list.ts'

const long = 'word '.repeat(40)
const data = {
  a: 'x\ny\n',
  b: '',
  c: long,
  d: `'${long}`,
  e: '\t"',
  f: ' \n',
  'a key': '12',
  y: 'y',
}
const labels = { 'app.kubernetes.io/name': 'x', __proto__: null }
const objects: readonly Loose[] = [
  { data },
  { data: { '': long.repeat(4), [long]: long, ['x'.repeat(200)]: `${long}\n` } },
  { spec: { replicas: 2n ** 62n, list: [[], {}, [[1.5, null]], [{ a: [] }]], template: null } },
  { status: {}, zzz: [1, 2], Items: true },
  {},
]

const pods = kindOf('v1', 'pods')
const maps = kindOf('v1', 'configmaps')
/** As a custom kind: items have their kind and apiVersion. */
const custom = {
  ...maps,
  itemsCarryType: true,
  origin: 'custom',
  decoding: 'free',
} as unknown as typeof maps
const linked = { ...maps, selfLinks: true }

const as = (kind: Transform['kind']): Transform => ({ kind, version: 'v1' })
const rows: [what: string, kind: typeof maps, count: number, shown?: Transform, query?: string][] =
  []
for (const [what, kind] of [
  ['config maps', maps],
  ['pods', pods],
  ['custom objects', custom],
  ['config maps with links', linked],
] as const) {
  for (const count of [0, 1, objects.length]) {
    rows.push([what, kind, count])
    rows.push([what, kind, count, as('PartialObjectMetadataList')])
    for (const include of ['None', 'Metadata', 'Object'])
      rows.push([what, kind, count, as('Table'), `includeObject=${include}`])
  }
}

const waiting = { status: 0, refusal: undefined, wire: { signal: new AbortController().signal } }

/** The JSON list has the same value as the YAML list. */
const listed = (kind: typeof maps, count: number, shape: Shape, query = '') => {
  const entries = objects.slice(0, count).map((_, i) => ({
    ...entryOf(`n${i}`, i + 1),
    apiVersion: kind.apiVersion,
  }))
  const of = new Map(entries.map(({ cut }, i) => [cut.bytes, objects[i]]))
  const parseStored = (bytes: Buffer) => ({
    metadata: { name: 'n', namespace: '', labels, annotations: data },
    ...structuredClone(of.get(bytes)),
  })
  const answer = { is: 'list', kind, entries, revision: 7, continueToken: 'c', remaining: 2 }
  const clock = { now: () => 0 }
  const requested = { target: { path: '/p' }, query: new URLSearchParams(query) }
  return encodeList(
    answer as unknown as Answer & { is: 'list' },
    shape,
    { server: { parseStored, clock } } as never,
    { ...requested, ...waiting } as unknown as Exchange,
  )
}

for (const [what, kind, count, transform, query] of rows) {
  test(`${count} ${what} as ${transform?.kind ?? 'they are'} ${query ?? ''}`, async () => {
    const shape = { as: transform, pretty: false, contentType: '', plainJson: false }
    const json = await listed(kind, count, { ...shape, format: 'json' }, query)
    const yaml = await listed(kind, count, { ...shape, format: 'yaml' }, query)
    assert.equal(String(yaml), String(encodeYaml(JSON.parse(String(json), exactly))))
  })
}

const exactly = (_key: string, value: unknown, context?: { source?: string }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value)
    ? BigInt(context?.source ?? '')
    : value

const whoWaits: [how: string, exchange: object, isMade: boolean][] = [
  ['waits for its answer', waiting, true],
  ['went away', { ...waiting, wire: { signal: AbortSignal.abort() } }, false],
  ['got a timeout error', { ...waiting, refusal: {} }, false],
]
for (const [how, exchange, isMade] of whoWaits) {
  test(`others have their turn between items, and the client ${how}`, async () => {
    let others = 0
    const timer = setInterval(() => others++, 1)
    let made = 0
    const slow = (name: string): Loose => {
      made++
      const end = performance.now() + 15
      while (performance.now() < end);
      return { name }
    }
    const frame = { kind: 'List', items: [] }
    const names = ['a', 'b', 'c']
    const text = yamlList(exchange as Exchange, frame, 'items', names, slow)
    if (isMade)
      assert.equal(String(await text), 'items:\n- name: a\n- name: b\n- name: c\nkind: List\n')
    else await assert.rejects(text, /nobody waits/)
    clearInterval(timer)
    assert.equal(made, isMade ? names.length : 1)
    assert.ok(others > 0, 'a timer had its turn')
  })
}

test('the response is recorded in the audit log at once, even if the client has disconnected', async () => {
  let others = 0
  setImmediate(() => others++)
  const gone = { status: 200, refusal: undefined, wire: { signal: AbortSignal.abort() } }
  const turns = new RequestTurns(gone as unknown as Exchange)
  const end = performance.now() + 15
  while (performance.now() < end);
  assert.equal(turns.over, false)
  await yamlList(gone as unknown as Exchange, { items: [] }, 'items', [1, 2], (value) => value)
  assert.equal(others, 0)
})
