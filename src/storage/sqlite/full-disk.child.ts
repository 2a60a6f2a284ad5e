/**
 * A process that fills the available space, reports it, waits for the message that there is more,
 * and continues. Started only by faults.test.ts.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteStorage } from './sqlite.ts'

const [directory] = process.argv.slice(2) as [string]
let storage = await openSqliteStorage({ directory, checkpointBytes: 128 * 1024 })
const answered: string[] = []

async function write(key: string): Promise<void> {
  const outcome = await storage.put(key, Buffer.alloc(2000, key), { ifRevision: 0 })
  if (!outcome.ok) throw new Error(`${key} was there already`)
  answered.push(key)
}

try {
  for (let i = 0; i < 10_000; i++) await write(`/registry/${i}`)
  console.log('never full')
} catch (error) {
  console.log(`full: ${(error as Error).message}`)
}
if (!storage.trouble()) console.log('and no trouble')
await once(process.stdin, 'data')
for (let i = 0; i < 3000 && storage.trouble(); i++) await sleep(20)
await write('/registry/later')
console.log('recovered')
await storage.close()
storage = await openSqliteStorage({ directory })
for (const key of answered) {
  if (!(await storage.get(key)).value) console.log(`lost: ${key}`)
}
console.log('all there')
await storage.close()
