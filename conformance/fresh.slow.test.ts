/**
 * What a real server of 1.22 says of itself when it has just started (`fresh.jsonl`): this one says
 * the same.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startServer } from '../test/running-server.ts'
import { type FreshRow, freshRows } from './fresh-rows.ts'

const wanted = readFileSync(new URL('fresh.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as FreshRow)

test(`a server that has just started: ${wanted.length} things it says of itself`, async () => {
  const server = await startServer([
    '--controllers=-*',
    '--authorization-mode=Node,RBAC',
    '--advertise-address=192.0.2.1',
  ])
  const rows = await freshRows(async (path, accept) =>
    JSON.parse((await server.ask('GET', path, undefined, { accept })).text),
  )
  await server.stop()
  const [want, got] = [wanted, rows].map((some) => new Map(some))
  const different = [...new Set([...want.keys(), ...got.keys()])].filter(
    (what) => JSON.stringify(got.get(what)) !== JSON.stringify(want.get(what)),
  )
  assert.deepEqual(different, [])
})
