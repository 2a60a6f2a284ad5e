import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMemoryStorage } from './memory/memory.ts'
import { type Provider, sealerOf } from './seal/sealer.ts'
import { SealedStorage } from './sealed.ts'
import { openSqliteStorage } from './sqlite/sqlite.ts'
import { collect, storageSuite, won } from './storage.suite.ts'
import { isStale, prefixRange, type Storage, whyUnopened } from './storage.ts'

const secret = Buffer.alloc(32, 7)
const aescbc: Provider = { is: 'aescbc', keys: [{ name: 'a', secret }] }
const aesgcm: Provider = { is: 'aesgcm', keys: [{ name: 'a', secret }] }
const secretbox: Provider = { is: 'secretbox', keys: [{ name: 'a', secret }] }
const identity: Provider = { is: 'identity' }
const root = '/registry'

const sealed = (inner: Storage, ...providers: Provider[]): Storage =>
  new SealedStorage({
    inner,
    root,
    sealers: new Map([
      ['/registry/secrets', sealerOf(providers)],
      ['/registry/services/specs', sealerOf(providers)],
    ]),
  })

for (const provider of [aescbc, aesgcm, secretbox, identity]) {
  storageSuite(`sealed by ${provider.is}`, {
    open: async () => {
      const storage = sealed(createMemoryStorage(), provider)
      return { storage, prefix: '/registry/secrets/', dispose: () => storage.close() }
    },
    ttlSecondsMin: 0.05,
    feedFirst: true,
  })
}

const places: [key: string, isSealed: boolean][] = [
  ['/registry/secrets/default/a', true],
  ['/registry/services/specs/default/a', true],
  ['/registry/services/endpoints/default/a', false],
  ['/registry/configmaps/default/a', false],
  ['/registry/secretsx/default/a', false],
  ['/registry/example.com/secrets/default/a', false],
]
for (const [key, isSealed] of places) {
  test(`${key} is ${isSealed ? 'sealed' : 'stored as it is'}`, async () => {
    const inner = createMemoryStorage()
    const bytes = Buffer.from('plain')
    won(await sealed(inner, aescbc).put(key, bytes, { ifRevision: 0 }))
    const stored = (await inner.get(key)).value?.bytes
    assert.equal(stored?.equals(bytes), !isSealed)
    await inner.close()
  })
}

test('the value of an old key is decrypted and marked for re-encryption', async () => {
  const inner = createMemoryStorage()
  const key = '/registry/secrets/a/b'
  won(await sealed(inner, aescbc).put(key, Buffer.from('x'), { ifRevision: 0 }))
  const fresh = (await sealed(inner, aescbc, aesgcm).get(key)).value?.bytes as Buffer
  const stale = (await sealed(inner, aesgcm, aescbc).get(key)).value?.bytes as Buffer
  assert.deepEqual(
    [`${fresh}`, isStale(fresh), `${stale}`, isStale(stale)],
    ['x', false, 'x', true],
  )
  await inner.close()
})

test('a value that no key decrypts does not affect other readers and values', async () => {
  const inner = createMemoryStorage()
  const storage = sealed(inner, aesgcm)
  const after = (await storage.currentRevision()) as number
  const put = (to: Storage, name: string) =>
    to.put(`/registry/secrets/a/${name}`, Buffer.from(name), { ifRevision: 0 })
  won(await put(storage, '1'))
  won(await put(sealed(inner, secretbox), '2'))
  won(await put(storage, '3'))
  const reported = ({ bytes }: { bytes: Buffer | undefined }) =>
    whyUnopened(bytes as Buffer) ?? `${bytes}`
  const expected = ['1', 'no matching prefix found', '3']
  const { items } = (await storage.list(prefixRange('/registry/secrets/'))).value
  assert.deepEqual(items.map(reported), expected)
  assert.deepEqual((await collect(storage, after, 3)).map(reported), expected)
  const lost = await put(storage, '2')
  assert.equal(!lost.ok && lost.current && reported(lost.current), expected[1])
  await storage.close()
})

test('no file of the database contains the plain text, while it is open and afterwards', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-sealed-'))
  const storage = sealed(await openSqliteStorage({ directory }), aescbc)
  const find = (text: string) =>
    readdirSync(directory).filter((file) => readFileSync(join(directory, file)).includes(text))
  try {
    const secretKey = '/registry/secrets/default/a'
    let ifRevision = 0
    for (const value of ['hidden text 1', 'hidden text 2'])
      ifRevision = won(await storage.put(secretKey, Buffer.from(value), { ifRevision }))
    won(await storage.delete(secretKey, { ifRevision }))
    won(await storage.put('/registry/pods/a', Buffer.from('seen text'), { ifRevision: 0 }))
    assert.deepEqual([find('hidden text'), find('seen text').length > 0], [[], true])
    await storage.close()
    assert.deepEqual([find('hidden text'), find('seen text').length > 0], [[], true])
  } finally {
    await storage.close()
    rmSync(directory, { recursive: true })
  }
})
