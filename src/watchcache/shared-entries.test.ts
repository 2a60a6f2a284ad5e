import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SortedMap } from '#base/sorted-map.ts'
import type { Resource } from '#kinds/kind.ts'
import type { Entry } from './entry.ts'
import { SharedEntries } from './shared-entries.ts'

test('bytes are parsed once, and an entry is made once per resource and revision', () => {
  const shared = new SharedEntries()
  let parsed = 0
  const parse = shared.parser(() => ({ metadata: {}, parsed: ++parsed }) as never)
  const [bytes, others] = [Buffer.from('a'), Buffer.from('a')]
  assert.equal(parse(bytes), parse(bytes))
  assert.notEqual(parse(bytes), parse(others))
  let made = 0
  const makerOf = (resource: Resource) =>
    shared.maker(resource, {
      make: (key, revision) => ({ key, revision, made: ++made }) as unknown as Entry,
    })
  const [one, two] = [{}, {}] as Resource[] as [Resource, Resource]
  const first = makerOf(one).make('a', 1, bytes)
  assert.equal(makerOf(one).make('a', 1, bytes), first)
  assert.notEqual(makerOf(one).make('a', 2, bytes), first)
  assert.notEqual(makerOf(two).make('a', 1, bytes), first)
})

test('loaded entries are shared by stores with the same state, for the same resource', () => {
  const shared = new SharedEntries()
  const [state, other] = [{ revision: 7 }, { revision: 7 }]
  const resource = { storagePrefix: '/pods' } as Resource
  const entries = new SortedMap<Entry>()
  const entry = (name: string) => ({ name }) as Entry
  entries.set('/pods/a', entry('a'))
  assert.equal(shared.loaded(resource, state), undefined)
  const first = shared.share(resource, state, entries)
  first.set('/pods/b', entry('b'))
  const rows: [title: string, resource: Resource, state: { revision: number }, size?: number][] = [
    ['the same', resource, state, 1],
    ['another state', resource, other],
    ['a kind that was defined anew', { ...resource }, state],
    ['another prefix', { storagePrefix: '/nodes' } as Resource, state],
  ]
  for (const [title, wanted, at, size] of rows)
    assert.equal(shared.loaded(wanted, at)?.entries.size, size, title)
  assert.equal(shared.loaded(resource, state)?.revision, 7)
})
