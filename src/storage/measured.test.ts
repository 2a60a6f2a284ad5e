import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MeasuredStorage } from './measured.ts'
import { createMemoryStorage } from './memory/memory.ts'
import { storageSuite } from './storage.suite.ts'

storageSuite('measured', {
  open: async () => {
    const storage = new MeasuredStorage(createMemoryStorage())
    return { storage, prefix: '/registry/', dispose: () => storage.close() }
  },
  ttlSecondsMin: 0.05,
  feedFirst: true,
})

test('each response is reported by its operation', async () => {
  const storage = new MeasuredStorage(createMemoryStorage())
  const reported: string[] = []
  storage.took = (operation, key, ms) => {
    assert.ok(ms >= 0)
    reported.push(`${operation} ${key}`)
  }
  const made = await storage.put('/a/x', Buffer.from('1'), { ifRevision: 0 })
  assert.ok(made.ok)
  const changed = await storage.put('/a/x', Buffer.from('2'), { ifRevision: made.revision })
  assert.ok(changed.ok)
  await storage.get('/a/x')
  await storage.list({ start: '/a/', end: '/a0' })
  await storage.delete('/a/x', { ifRevision: changed.revision })
  await new Promise(setImmediate)
  assert.deepEqual(reported, ['create /a/x', 'update /a/x', 'get /a/x', 'list /a/', 'delete /a/x'])
  await storage.close()
})
