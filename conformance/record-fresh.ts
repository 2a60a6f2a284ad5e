/**
 * Records what a real server that was just started reports about itself: `fresh.jsonl`, which
 * `fresh.slow.test.ts` holds this server to without the other one.
 *
 *   node tools/run.mjs file conformance/record-fresh.ts --peer URL
 */
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { freshRows } from './fresh-rows.ts'

const { values } = parseArgs({ options: { peer: { type: 'string' } } })
const { hostname, port } = new URL(values.peer ?? '')

const rows = await freshRows(
  (path, accept) =>
    new Promise((answered, failed) => {
      const headers = { authorization: 'Bearer admin-token', accept }
      const sent = request({ host: hostname, port, path, headers, rejectUnauthorized: false })
      sent.on('error', failed)
      sent.on('response', (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part) => parts.push(part))
        answer.on('end', () => answered(JSON.parse(Buffer.concat(parts).toString())))
      })
      sent.end()
    }),
)
const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
writeFileSync(resolve(import.meta.dirname, 'fresh.jsonl'), text)
