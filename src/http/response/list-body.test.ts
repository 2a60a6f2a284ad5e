/** The bytes of lists: the head, and items that are joined without being parsed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf } from '#admission/requests.suite.ts'
import { encodeCut } from '#codec/cut-object.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Entry } from '#watchcache/entry.ts'
import { itemPieces, type ListHead, listEnd, listStart } from './list-body.ts'

const plain: ListHead = {
  kind: 'PodList',
  apiVersion: 'v1',
  revision: 7,
  continueToken: '',
  remaining: undefined,
}
const heads: [what: string, head: Partial<ListHead>, metadata: object][] = [
  ['a whole list', {}, { resourceVersion: '7' }],
  ['what has no version', { revision: 0 }, {}],
  [
    'a page',
    { continueToken: 'x"y', remaining: 3 },
    { resourceVersion: '7', continue: 'x"y', remainingItemCount: 3 },
  ],
  ['a page of a selection', { continueToken: 'x' }, { resourceVersion: '7', continue: 'x' }],
  ['nothing remaining', { remaining: 0 }, { resourceVersion: '7', remainingItemCount: 0 }],
  ['a list of custom objects', { alwaysContinues: true }, { resourceVersion: '7', continue: '' }],
  [
    'an old release',
    { selfLink: '/api/v1/pods' },
    { selfLink: '/api/v1/pods', resourceVersion: '7' },
  ],
]
for (const [what, head, metadata] of heads) {
  test(`the head of ${what}`, () => {
    const text = `${listStart({ ...plain, ...head })}${listEnd}`
    assert.ok(text.endsWith('\n'))
    assert.deepEqual(JSON.parse(text), { kind: 'PodList', apiVersion: 'v1', metadata, items: [] })
    assert.deepEqual(Object.keys(JSON.parse(text).metadata), Object.keys(metadata))
  })
}

const pods = kindOf('v1', 'pods')
const entryOf = (name: string, revision: number, padding = 0): Entry =>
  ({
    namespace: 'default',
    name,
    revision,
    cut: encodeCut({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name, annotations: { text: 'é'.repeat(padding) } },
    }),
  }) as unknown as Entry

async function joined(kind: Kind, entries: Entry[], isSlow = false) {
  const pieces: Buffer[] = []
  const cutOf = (entry: Entry) => (isSlow ? Promise.resolve(entry.cut) : entry.cut)
  for await (const piece of itemPieces(kind, entries, cutOf)) pieces.push(piece)
  return { pieces, items: JSON.parse(`[${Buffer.concat(pieces).toString('utf8')}]`) }
}

test('a short list, which is cached, has memory of its own', async () => {
  const { pieces } = await joined(pods, [entryOf('p', 1)])
  for (const { length, buffer } of pieces) assert.ok(buffer.byteLength < 2 * length)
})

const custom = { ...pods, itemsCarryType: true } as Kind
const lists: [what: string, kind: Kind, count: number, padding: number, pieces: number][] = [
  ['no items', pods, 0, 0, 0],
  ['one item', pods, 1, 0, 1],
  ['some items', pods, 5, 0, 1],
  ['more than a piece holds', pods, 30, 50_000, 3],
  ['items with their own apiVersion and kind', custom, 3, 0, 1],
]
for (const [what, kind, count, padding, pieceCount] of lists) {
  for (const isSlow of [false, true]) {
    test(`${what}${isSlow ? ', converted on the way' : ''}`, async () => {
      const entries = Array.from({ length: count }, (_, i) => entryOf(`p${i}`, i + 1, padding))
      const { pieces, items } = await joined(kind, entries, isSlow)
      assert.equal(pieces.length, pieceCount)
      assert.equal(items.length, count)
      for (const [i, item] of items.entries()) {
        assert.equal(item.metadata.name, `p${i}`)
        assert.equal(item.metadata.resourceVersion, String(i + 1))
        assert.equal(item.metadata.annotations.text.length, padding)
        assert.equal(item.kind, kind === custom ? 'Pod' : undefined)
        assert.equal(item.apiVersion, kind === custom ? 'v1' : undefined)
      }
    })
  }
}
