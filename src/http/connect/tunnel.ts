/**
 * Tunnels an upgraded connection: once the backend agrees, the bytes of both sides are copied
 * unread until one side closes. SPDY and WebSocket are treated alike.
 */
import type { Duplex } from 'node:stream'
import type { IncomingMessage } from 'node:http'
import type { Exchange } from '#http/exchange.ts'
import type { Backend } from './backend.ts'
import { BackendUnreachable, callForUpgrade } from './call-backend.ts'
import { forwardResponse, withOurs } from './forward-response.ts'
import { answeredHeaders, type PassedHeaders } from './passed-headers.ts'

export interface Tunnelling {
  readonly backend: Backend
  readonly path: string
  readonly headers: PassedHeaders
  readonly stopping: AbortSignal
  /** Sends the response that rejects the upgrade. */
  readonly refuse: (words: string) => void
}

/** Resolves when the tunnel is closed. */
export async function tunnel(exchange: Exchange, tunnelling: Tunnelling): Promise<void> {
  const { wire } = exchange
  if (wire.upgrade === undefined) throw new Error('the client did not ask to leave HTTP')
  let began: Awaited<ReturnType<typeof callForUpgrade>>
  try {
    began = await callForUpgrade({ ...tunnelling, method: wire.method, signal: wire.signal })
  } catch (error) {
    if (!(error instanceof BackendUnreachable)) throw error
    const words = error.message === 'EOF' ? 'unexpected EOF' : error.message
    return tunnelling.refuse(error.connected ? words : `error dialing backend: ${words}`)
  }
  const { answer } = began
  if (began.is === 'answer') {
    const status = answer.statusCode ?? 0
    if (status >= 400)
      return forwardResponse(
        exchange,
        status,
        withOurs(exchange, answeredHeaders(answer.headers)),
        answer,
      )
    answer.destroy()
    return tunnelling.refuse(`invalid upgrade response: status code ${status}`)
  }
  exchange.seat?.release()
  exchange.status = 101
  const client = wire.upgrade.socket
  client.write(switching(answer), 'latin1')
  if (began.head.length > 0) client.write(began.head)
  if (wire.upgrade.head.length > 0) began.socket.write(wire.upgrade.head)
  await join(client, began.socket, tunnelling.stopping)
}

/** The head of the backend's response, unchanged, one character per byte. */
function switching({ rawHeaders, statusMessage }: IncomingMessage): string {
  const lines = [`HTTP/1.1 101 ${statusMessage || 'Switching Protocols'}`]
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** How long one side may take to read the last bytes after the other has closed. */
const lastBytesMs = 10_000

function finish(socket: Duplex): void {
  if (socket.destroyed) return
  const timer = setTimeout(() => socket.destroy(), lastBytesMs)
  socket.once('close', () => clearTimeout(timer))
  socket.end(() => socket.destroy())
}

function join(client: Duplex, backend: Duplex, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let open = 2
    const over = () => {
      client.destroy()
      backend.destroy()
    }
    const sides: [Duplex, Duplex][] = [
      [client, backend],
      [backend, client],
    ]
    for (const [socket, other] of sides) {
      socket.on('error', () => {})
      socket.once('close', () => {
        finish(other)
        if (--open === 0) {
          stopping.removeEventListener('abort', over)
          resolve()
        }
      })
    }
    stopping.addEventListener('abort', over, { once: true })
    client.pipe(backend)
    backend.pipe(client)
    if (stopping.aborted) over()
  })
}
