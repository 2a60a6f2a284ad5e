/**
 * Sends large bodies over a few connections, several at once, and reports the results of their
 * echoes.
 */
import { Agent, request } from 'node:https'

const port = Number(process.argv[2])
const agent = new Agent({ keepAlive: true, maxSockets: 10, rejectUnauthorized: false })
const bodies = Array.from({ length: 40 }, (_, i) =>
  Buffer.from(`${i} `.repeat(200_000 / `${i} `.length)),
)
const tally: Record<string, number> = {}
let next = 0

function send(body: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const headers = { 'content-length': body.length }
    const call = request({ host: '127.0.0.1', port, method: 'POST', agent, headers }, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece))
      answer.on('end', () => resolve(Buffer.concat(pieces).equals(body) ? 'right' : 'wrong'))
    })
    call.on('error', (error) => resolve(error.message))
    call.end(body)
  })
}

// A connection that breaks between two requests fails no request.
process.on('uncaughtException', () => {})
await Promise.all(
  Array.from({ length: 10 }, async () => {
    while (next < 1000) {
      const how = await send(bodies[next++ % bodies.length] as Buffer)
      tally[how] = (tally[how] ?? 0) + 1
    }
  }),
)
process.stdout.write(JSON.stringify(tally))
process.exit()
