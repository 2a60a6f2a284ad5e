/**
 * Sixteen writers that update sixteen objects, started only by small-disk.slow.test.ts. Prints a
 * line for each write: `put KEY REVISION`, or `refused` with the reason. It runs until it is
 * killed.
 */
import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteStorage } from './sqlite.ts'

const [directory, size] = process.argv.slice(2) as [string, string]
const writers = 16
/** The pause between two writes of one writer: 800 writes a second in total. */
const pauseMs = 20

const storage = await openSqliteStorage({ directory })
const say = (words: string) => writeSync(1, `${words}\n`)

async function write(writer: number): Promise<never> {
  const key = `/registry/secrets/${writer}`
  let { value: found } = await storage.get(key)
  for (;;) {
    try {
      const bytes = Buffer.alloc(Number(size), `${writer} ${found?.revision} `)
      const outcome = await storage.put(key, bytes, { ifRevision: found?.revision ?? 0 })
      if (!outcome.ok) throw new Error(`${key} was changed by another`)
      found = { key, bytes, revision: outcome.revision }
      say(`put ${key} ${outcome.revision}`)
    } catch (error) {
      say(`refused ${(error as Error).message}`)
    }
    await sleep(pauseMs)
  }
}

for (let writer = 0; writer < writers; writer++) void write(writer)
