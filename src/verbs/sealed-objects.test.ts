/**
 * Encrypted objects: when they are rewritten, and that an unreadable one does not affect others.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { type Provider, sealerOf } from '#storage/seal/sealer.ts'
import { SealedStorage } from '#storage/sealed.ts'
import { type Storage, Unreadable } from '#storage/storage.ts'
import { type Fixture, refusalOf, startVerbs } from './fixture.suite.ts'

const provider = (name: string): Provider => ({
  is: 'aesgcm',
  keys: [{ name, secret: Buffer.alloc(32, name) }],
})
const sealed = (inner: Storage, ...providers: Provider[]): Storage =>
  new SealedStorage({
    inner,
    root: '/registry',
    sealers: new Map([['/registry/configmaps', sealerOf(providers)]]),
  })
const configMap = (name: string, metadata: object = {}) => ({ metadata: { name, ...metadata } })
const noKey = 'no matching key was found for the provided AES transformer'
const keyOfB = '/registry/configmaps/default/b'
const inList = `unable to transform key "${keyOfB}": ${noKey}`

/** The message of the error. */
const whyRefused = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'none'
  } catch (error) {
    if (error instanceof Unreadable) return error.message
    throw error
  }
}

const on = async (storage: Storage, work: (verbs: Fixture) => Promise<void>): Promise<void> => {
  const verbs = await startVerbs(storage)
  try {
    await work(verbs)
  } finally {
    await verbs.server.cache.close()
  }
}

test('an unchanged write re-encrypts only if another key is now the first', async () => {
  const inner = createMemoryStorage()
  await on(sealed(inner, provider('1')), async (verbs) => {
    const made = await verbs.create('configmaps', configMap('a'))
    assert.deepEqual(await verbs.update('configmaps', made), made)
  })
  await on(sealed(inner, provider('2'), provider('1')), async (verbs) => {
    const found = await verbs.get('configmaps', 'a')
    const { metadata, ...rest } = await verbs.update('configmaps', found)
    assert.deepEqual(
      { ...rest, metadata: { ...metadata, resourceVersion: '' } },
      {
        ...found,
        metadata: { ...found.metadata, resourceVersion: '' },
      },
    )
    assert.notEqual(metadata.resourceVersion, found.metadata.resourceVersion)
    const again = await verbs.update('configmaps', await verbs.get('configmaps', 'a'))
    assert.equal(again.metadata.resourceVersion, metadata.resourceVersion)
  })
  await on(sealed(inner, provider('2')), async (verbs) => {
    assert.equal((await verbs.get('configmaps', 'a')).metadata.name, 'a')
  })
  await inner.close()
})

const refused: [string, (verbs: Fixture) => Promise<unknown>, 'alone' | 'among others'][] = [
  ['a read', ({ get }) => get('configmaps', 'b'), 'alone'],
  ['a read of what is at hand', ({ get }) => get('configmaps', 'b', '0'), 'alone'],
  ['an update', ({ update }) => update('configmaps', configMap('b') as never), 'alone'],
  ['a patch', ({ patch }) => patch('configmaps', 'b', 'merge', {}), 'alone'],
  ['a deletion', ({ remove }) => remove('configmaps', 'b'), 'alone'],
  ['a list', ({ list }) => list('configmaps'), 'among others'],
  ['a watch', ({ watch }) => watch('configmaps'), 'among others'],
  ['a watch from before', ({ watch }) => watch('configmaps', 'resourceVersion=1'), 'among others'],
]

const missing = "Object 'Kind' is missing"
const unreadable: [
  bytes: string,
  on: (inner: Storage) => Storage,
  why: Record<'alone' | 'among others', string>,
][] = [
  [
    'k8s:enc:aesgcm:v1:other:abc',
    (inner) => sealed(inner, provider('1')),
    { alone: noKey, 'among others': inList },
  ],
  ['{"metadata":{"name":"b"}}', (inner) => inner, { alone: missing, 'among others': missing }],
]
const cases = unreadable.flatMap((row) =>
  (['before', 'after'] as const).map((appears) => [...row, appears] as const),
)
for (const [text, opened, whys, appears] of cases) {
  test(`${text}, written ${appears} its kind was requested, is rejected alone`, async () => {
    const inner = createMemoryStorage()
    const write = async () => {
      const { value } = await inner.get(keyOfB)
      const ifRevision = value?.revision ?? 0
      assert.ok((await inner.put(keyOfB, Buffer.from(text), { ifRevision })).ok)
    }
    if (appears === 'before') await write()
    await on(opened(inner), async (verbs) => {
      await verbs.create('configmaps', configMap('a'))
      if (appears === 'after') {
        await verbs.create('configmaps', configMap('b'))
        await write()
        await verbs.settled()
      }
      for (const [name, ask, where] of refused)
        assert.equal(await whyRefused(ask(verbs)), whys[where], name)
      const taken = refusalOf(verbs.create('configmaps', configMap('b')))
      assert.equal(await taken, '409 AlreadyExists')
      assert.equal((await verbs.get('configmaps', 'a')).metadata.name, 'a')
      await verbs.update('configmaps', configMap('a', { labels: { x: 'y' } }) as never)
    })
    await inner.close()
  })
}

test('watches end at a change that no key opens, and can resume from there later', async () => {
  const inner = createMemoryStorage()
  const storage = sealed(inner, provider('1'))
  await on(storage, async (verbs) => {
    const made = await verbs.create('configmaps', configMap('b'))
    const watching = await verbs.watch('configmaps')
    const since = made.metadata.resourceVersion as string
    const bytes = Buffer.from('k8s:enc:aesgcm:v1:other:abc')
    const outcome = await inner.put(keyOfB, bytes, { ifRevision: Number(since) })
    assert.ok(outcome.ok)
    await verbs.settled()
    assert.equal(watching.watcher.ended, true)
    watching.stop()
    assert.ok((await inner.delete(keyOfB, { ifRevision: outcome.revision })).ok)
    await verbs.settled()
    assert.equal((await verbs.list('configmaps')).entries.length, 0)
    const again = await verbs.watch('configmaps', `resourceVersion=${since}`)
    assert.deepEqual([again.watcher.ended, again.watcher.queued], [false, 1])
    again.stop()
  })
  await inner.close()
})

test('a sealed value that no key opens is not treated as absent', async () => {
  const inner = createMemoryStorage()
  await sealed(inner, provider('1')).put(keyOfB, Buffer.from('{}'), { ifRevision: 0 })
  await on(inner, async (verbs) => {
    const why = 'identity transformer tried to read encrypted data'
    assert.equal(await whyRefused(verbs.get('configmaps', 'b')), why)
    assert.equal(
      await whyRefused(verbs.list('configmaps')),
      `unable to transform key "${keyOfB}": ${why}`,
    )
  })
  await inner.close()
})
