/**
 * The real server that a recording is made of: requests as its administrator, and its release.
 */
import { Agent, request } from 'node:https'
import type { Step } from './two-servers.ts'

const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 6 })

export interface RecordedServer {
  /** As in file names: `1.37`. */
  readonly release: string
  ask(step: Step): Promise<{ status: number; text: string }>
  close(): void
}

export async function connectTo(url: string): Promise<RecordedServer> {
  const { hostname, port } = new URL(url)
  const ask: RecordedServer['ask'] = ({ method, path, headers, body }) =>
    new Promise((answered, failed) => {
      const data = body === undefined ? undefined : JSON.stringify(body)
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      const all = { authorization: 'Bearer admin-token', 'content-type': type, ...headers }
      const sent = request({ agent, host: hostname, port, method, path, headers: all })
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // kube-apiserver panics at some requests, and closes the connection.
        if (error.code === 'ECONNRESET') answered({ status: 0, text: '{}' })
        else failed(error)
      })
      sent.on('response', (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part) => parts.push(part))
        answer.on('end', () =>
          answered({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
        )
      })
      sent.end(data)
    })
  const { text } = await ask({ method: 'GET', path: '/version' })
  const { major, minor } = JSON.parse(text) as { major: string; minor: string }
  return { release: `${major}.${minor}`, ask, close: () => agent.destroy() }
}
