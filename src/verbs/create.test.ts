import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { startVerbs } from './fixture.suite.ts'

/** Whether a manager owns a field that the client sent and the server sets. */
async function ownsGrace(release: number): Promise<boolean> {
  const { create } = await startVerbs(createMemoryStorage(), 100, release)
  const metadata = { name: 'a', namespace: 'default', deletionGracePeriodSeconds: 3 }
  const made = await create('configmaps', { metadata, data: { a: 'b' } })
  return JSON.stringify(made.metadata.managedFields).includes('deletionGracePeriodSeconds')
}

test('since 1.25 managers do not own fields that the server sets', async () => {
  assert.deepEqual([await ownsGrace(24), await ownsGrace(25)], [true, false])
})
