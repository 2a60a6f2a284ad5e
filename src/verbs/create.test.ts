import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { startVerbs } from './fixture.suite.ts'

/** Whether a manager owns a field that the server sets, if the client sent it. */
async function ownsGrace(release: number): Promise<boolean> {
  const { create } = await startVerbs(createMemoryStorage(), 100, release)
  const metadata = { name: 'a', namespace: 'default', deletionGracePeriodSeconds: 3 }
  const made = await create('configmaps', { metadata, data: { a: 'b' } })
  return JSON.stringify(made.metadata.managedFields).includes('deletionGracePeriodSeconds')
}

test('managers do not own what the server sets since 1.25', async () => {
  assert.deepEqual([await ownsGrace(24), await ownsGrace(25)], [true, false])
})
