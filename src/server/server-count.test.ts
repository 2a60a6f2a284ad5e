import assert from 'node:assert/strict'
import test from 'node:test'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { ServerCount } from './server-count.ts'

const [a, b, c, d] = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']
const rows: [reported: string[] | undefined, count: number, renewed: string[], left: string[]][] = [
  [undefined, 1, [b], []],
  [[b], 1, [b], []],
  [[a], 1, [b], [a]],
  [[a], 2, [a, b], [a]],
  [[a, c], 3, [a, b, c], [a, c]],
  [[a, c], 2, [a, b], [a, c]],
  [[a, b, c, d], 3, [a, b, d], [a, c, d]],
  [[c, d], 1, [b], [c, d]],
  [[a, b], 3, [a, b], [a]],
]
for (const [reported, count, renewed, left] of rows)
  test(`${count} servers where ${reported ?? 'none'} are known`, async () => {
    const storage = createMemoryStorage()
    const subsets = [{ addresses: reported?.map((ip) => ({ ip })) }]
    const key = '/registry/services/endpoints/default/kubernetes'
    if (reported !== undefined)
      await storage.put(key, Buffer.from(JSON.stringify({ subsets })), { ifRevision: 0 })
    const parse = (bytes: Buffer) => JSON.parse(bytes.toString())
    const counted = new ServerCount({ storage, parse, root: '/registry', address: b }, count)
    assert.deepEqual(await counted.renew(), renewed)
    assert.deepEqual(await counted.leave(), left)
    await storage.close()
  })
