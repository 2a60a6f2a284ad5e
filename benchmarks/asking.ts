/**
 * A client of one server for measurements: one HTTP/2 connection, many requests at once, and what
 * the server's process spent meanwhile.
 */
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import { join } from 'node:path'
import type { RunningServer } from '../test/running-server.ts'

export interface Asking {
  ask(method: string, path: string, body?: object, headers?: object): Promise<number>
  /** The same piece of work many times, some at once. */
  times(count: number, atOnce: number, one: (i: number) => Promise<unknown>): Promise<void>
  /** Processor time the server has used so far, in milliseconds. */
  spentMs(): number
  close(): void
}

/**
 * `asAdmin`: with the administrator's certificate; without, requests say themselves who they are.
 */
export function asking(server: RunningServer, asAdmin = true): Asking {
  const pem = (name: string) => readFileSync(join(server.dataDir, 'pki', name))
  const session = http2.connect(server.url, {
    ca: pem('ca.crt'),
    ...(asAdmin && { cert: pem('admin.crt'), key: pem('admin.key') }),
  })
  const ask = (method: string, path: string, body?: object, headers: object = {}) =>
    new Promise<number>((resolve, reject) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const stream = session.request(
        { ':method': method, ':path': path, ...type, ...headers },
        { endStream: body === undefined },
      )
      let status = 0
      stream.on('response', (answer) => {
        status = Number(answer[':status'])
      })
      stream.on('error', reject)
      stream.on('end', () => resolve(status))
      stream.resume()
      if (body !== undefined) stream.end(JSON.stringify(body))
    })
  return {
    ask,
    async times(count, atOnce, one) {
      let next = 0
      const worker = async () => {
        while (next < count) await one(next++)
      }
      await Promise.all(Array.from({ length: atOnce }, worker))
    },
    spentMs: () => spentMs(server.pid),
    close: () => session.destroy(),
  }
}

/** The kernel counts in hundredths of a second. */
export function spentMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
