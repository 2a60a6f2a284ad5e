/**
 * Records what a real server that was just started reports about itself: `fresh-RELEASE.jsonl`,
 * which `fresh.slow.test.ts` holds this server to without the other one.
 *
 *   node tools/run.mjs file conformance/record-fresh.ts --peer URL
 */
import { parseArgs } from 'node:util'
import { freshRows } from './fresh-rows.ts'
import { connectTo } from './recorded-server.ts'
import { writeRecording } from './recordings.ts'

const { values } = parseArgs({ options: { peer: { type: 'string' } } })
const peer = await connectTo(values.peer ?? '')
const rows = await freshRows(async (path, accept) =>
  JSON.parse((await peer.ask({ method: 'GET', path, headers: { accept } })).text),
)
writeRecording('fresh', peer.release, rows)
peer.close()
