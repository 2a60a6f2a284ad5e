import assert from 'node:assert/strict'
import { SortedMap } from '#base/sorted-map.ts'
import test from 'node:test'
import type { Revision } from '#storage/storage.ts'
import type { Entry } from './entry.ts'
import { entryMaker } from './entry-maker.ts'
import { parse, plainResource, root, thing } from './picture.suite.ts'
import { ResourceCache } from './resource-cache.ts'
import { Watcher } from './watcher.ts'

const resource = plainResource('things')
const maker = entryMaker(resource, parse)
const keyOf = (name: string) => `${root}/things/a/${name}`

function cacheWith(names: string[], revision: Revision): ResourceCache {
  const entries = new SortedMap<Entry>()
  for (const [i, name] of names.entries())
    entries.set(keyOf(name), maker.make(keyOf(name), i + 1, thing('a', name)))
  return new ResourceCache(
    resource,
    maker,
    { entries, revision },
    { eventsMax: 100, ageMsMax: 1e6 },
  )
}

const put = (cache: ResourceCache, name: string, revision: Revision) =>
  cache.apply({ key: keyOf(name), revision, bytes: thing('a', name, { at: String(revision) }) }, 0)
const drop = (cache: ResourceCache, name: string, revision: Revision) =>
  cache.apply({ key: keyOf(name), revision, bytes: undefined }, 0)
const namesIn = (picture: Pick<ResourceCache, 'visit'>) => {
  const names: string[] = []
  picture.visit(`${root}/things/`, `${root}/things0`, ({ name }) => void names.push(name))
  return names.join(' ')
}

test('the cache follows its changes, in the order of keys', () => {
  const cache = cacheWith(['b', 'd'], 10)
  put(cache, 'c', 11)
  put(cache, 'a', 12)
  drop(cache, 'd', 13)
  assert.equal(namesIn(cache), 'a b c')
  assert.equal(cache.size, 3)
  assert.equal(cache.get(keyOf('c'))?.revision, 11)
  assert.equal(cache.get(keyOf('d')), undefined)
})

test('changes that were part of the initial load are ignored and not delivered', () => {
  const cache = cacheWith(['a'], 10)
  const watcher = new Watcher('', undefined)
  cache.fanOut.add(watcher)
  put(cache, 'b', 9)
  drop(cache, 'a', 10)
  assert.equal(namesIn(cache), 'a')
  assert.deepEqual(watcher.take(), [])
  assert.deepEqual(cache.history.after(10), [])
})

test('the deletion of an unknown key causes no event', () => {
  const cache = cacheWith([], 10)
  drop(cache, 'a', 11)
  assert.deepEqual(cache.history.after(10), [])
})

test('events contain the previous object', () => {
  const cache = cacheWith(['a'], 10)
  put(cache, 'a', 11)
  drop(cache, 'a', 12)
  const events = cache.history.after(10) ?? []
  assert.deepEqual(
    events.map(({ revision, entry, previous }) => [revision, entry?.revision, previous?.revision]),
    [
      [11, 11, 1],
      [12, undefined, 11],
    ],
  )
})

test('a snapshot does not change with the cache', () => {
  const cache = cacheWith(['a', 'c'], 10)
  const before = cache.snapshot(10)
  put(cache, 'b', 11)
  drop(cache, 'a', 12)
  assert.equal(namesIn(before), 'a c')
  assert.equal(before.count(`${root}/things/`, `${root}/things0`), 2)
  assert.equal(cache.snapshotAt(10), before)
  assert.equal(cache.snapshotAt(11), undefined, 'nobody kept it')
  assert.equal(namesIn(cache.snapshotAt(12) as never), 'b c')
  assert.equal(
    namesIn(cache.snapshotAt(99) as never),
    'b c',
    'nothing of this resource happened since',
  )
})

test('a snapshot is kept for some minutes only', () => {
  const cache = cacheWith(['a'], 10)
  const old = cache.snapshot(10)
  drop(cache, 'a', 11)
  const steps: [nowMs: number, expected: typeof old | undefined][] = [
    [1000, old],
    [300_000, old],
    [301_000, undefined],
  ]
  for (const [nowMs, expected] of steps) {
    cache.forgetSnapshots(nowMs)
    assert.equal(cache.snapshotAt(10), expected, `after ${nowMs} ms`)
  }
})

test('objects with a label are found without a full scan, from a few hundred objects on', () => {
  const names = Array.from({ length: 300 }, (_, i) => `n${String(i).padStart(3, '0')}`)
  const few = cacheWith(names.slice(0, 100), 10)
  const many = cacheWith(names, 10)
  put(many, 'n100', 500)
  put(many, 'b', 501)
  const sought = { key: 'at', value: '500' }
  assert.equal(few.labelled(sought, 10), undefined)
  assert.equal(namesIn(many.labelled(sought, 10) as ResourceCache), 'n100')
  put(many, 'a', 500 + 2)
  drop(many, 'n100', 503)
  assert.equal(namesIn(many.labelled(sought, 10) as ResourceCache), '')
  assert.equal(many.labelled({ key: 'at', value: '501' }, 0), undefined)
})
