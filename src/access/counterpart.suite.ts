/**
 * HTTPS servers on loopback for tests, with generated certificates, and files that refer to them.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { authority, type Made, serving } from './certificates.suite.ts'

export type CounterpartAnswer =
  | { status?: number; headers?: Record<string, string>; body?: unknown }
  | 'reset'
export type Handler = (request: {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
  clientName: string | undefined
}) => CounterpartAnswer | Promise<CounterpartAnswer>

export interface Counterpart {
  readonly url: string
  readonly authority: Made
  /** The number of received requests. */
  count(): number
  handle(handler: Handler): void
  stop(): Promise<void>
}

/** `clients`: an authority whose certificates clients must present. */
export async function counterpart(handler: Handler, clients?: Made): Promise<Counterpart> {
  const ca = await authority('counterpart')
  const own = await serving(ca)
  let current = handler
  let count = 0
  const server = createServer(
    {
      key: own.keyPem,
      cert: own.pem,
      ...(clients && { ca: clients.pem, requestCert: true, rejectUnauthorized: true }),
    },
    async (request: IncomingMessage, response: ServerResponse) => {
      count++
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const socket = request.socket as unknown as {
        getPeerCertificate?: () => { subject?: { CN?: string } }
      }
      const answer = await current({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        clientName: clients && socket.getPeerCertificate?.().subject?.CN,
      })
      if (answer === 'reset') return void request.socket.destroy()
      const { status = 200, headers = {}, body = '' } = answer
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `https://localhost:${port}`,
    authority: ca,
    count: () => count,
    handle: (next) => {
      current = next
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A folder for the files of one test run. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), 'access-'))
  return {
    file(name: string, text: string): string {
      writeFileSync(join(path, name), text)
      return join(path, name)
    },
    remove: () => rmSync(path, { recursive: true }),
  }
}

/** A kubeconfig for a counterpart. */
export const kubeconfig = (server: string, cluster: object, user: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'webhook',
    contexts: [{ name: 'webhook', context: { cluster: 'remote', user: 'us' } }],
    clusters: [{ name: 'remote', cluster: { server, ...cluster } }],
    users: [{ name: 'us', user }],
  })
