import assert from 'node:assert/strict'
import test from 'node:test'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { ServerLeases } from './server-leases.ts'

test('servers that are alive know each other, until they leave', async () => {
  const storage = createMemoryStorage()
  const parse = (bytes: Buffer) => JSON.parse(bytes.toString())
  const at = (address: string) => new ServerLeases({ storage, parse, root: '/registry', address })
  const [one, two] = [at('192.0.2.7'), at('192.0.2.10')]
  assert.deepEqual(await one.renew(), ['192.0.2.7'])
  assert.deepEqual(await two.renew(), ['192.0.2.10', '192.0.2.7'])
  assert.deepEqual(await one.renew(), ['192.0.2.10', '192.0.2.7'])
  assert.deepEqual(await one.leave(), ['192.0.2.10'])
  assert.deepEqual(await one.leave(), ['192.0.2.10'])
  const { value } = await storage.get('/registry/masterleases/192.0.2.10')
  assert.deepEqual(parse(value?.bytes as Buffer).subsets, [{ addresses: [{ ip: '192.0.2.10' }] }])
  assert.deepEqual(await two.leave(), [])
  await storage.close()
})
