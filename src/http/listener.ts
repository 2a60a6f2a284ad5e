/**
 * HTTP/2 and HTTP/1.1 on one TLS port. Hands each request on as a `Wire`; knows nothing of Kubernetes. No request,
 * however malformed, ends the process: what the parsers refuse is closed, what handlers throw is their own affair.
 */
import type { Socket } from 'node:net'
import tls from 'node:tls'
import { loadLater } from '#base/load-later.ts'
import type { Http1Connections, Http1Options } from './http1-connections.ts'
import type { Http2Connection } from './http2/connection.ts'

/** Each is loaded with the first connection that speaks it. */
const loadHttp1 = loadLater<typeof import('./http1-connections.ts')>(
  import.meta.url,
  './http1-connections',
)
const loadHttp2 = loadLater<typeof import('./http2/connection.ts')>(
  import.meta.url,
  './http2/connection',
)

export interface ListenerOptions extends Http1Options {
  readonly cert: string | Buffer
  readonly key: string | Buffer
  /** Authorities named to clients when asking for their certificate; verification is authentication's work. */
  readonly clientAuthorities: Buffer | undefined
  /** How long until a connection's first word, and until it is secure; the usual times where unset. */
  readonly prefaceMs?: number
  readonly handshakeMs?: number
  /** A connection failed before it was secure. */
  readonly handshakeFailed?: () => void
}

/** As Go prefers them: of the ciphers that are good enough, the one that costs least comes first. */
const ciphers = ['TLS_AES_128_GCM_SHA256', ...tls.DEFAULT_CIPHERS.split(':')].join(':')

/** How long a client may take to shake hands; as the original's. */
const handshakeMsMax = 32_000

/** How long a connection may be silent before the other end is asked whether it is still there. */
const keepAliveProbeMs = 60_000

export interface Listener {
  listen(port: number, address: string): Promise<number>
  /** New keys for connections that come from now on. */
  renew(cert: string | Buffer, key: string | Buffer): void
  /** Stops accepting; connections end once their requests are done. */
  drain(): Promise<void>
  /** Ends what is left. */
  destroy(): void
}

export function createListener(options: ListenerOptions): Listener {
  const sockets = new Set<Socket>()
  const connections = new Set<Http2Connection>()
  const tlsServer = tls.createServer({
    ...tlsOptions(options),
    ALPNProtocols: ['h2', 'http/1.1'],
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: options.handshakeMs ?? handshakeMsMax,
  })
  let http1: Http1Connections | undefined
  let draining = false
  const drainConnections = () => {
    for (const connection of connections) connection.close()
    http1?.drain()
  }
  tlsServer.on('secureConnection', (socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, keepAliveProbeMs)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    if (socket.alpnProtocol === 'h2') {
      const { handle, prefaceMs } = options
      const connection = new (loadHttp2().Http2Connection)(socket, {
        handle,
        ...(prefaceMs !== undefined && { prefaceMs }),
      })
      connections.add(connection)
      socket.on('close', () => connections.delete(connection))
    } else {
      http1 ??= new (loadHttp1().Http1Connections)(options)
      http1.take(socket)
    }
    // A handshake that was under way when the server stopped.
    if (draining) drainConnections()
  })
  tlsServer.on('tlsClientError', (_error, socket) => {
    // Node leaves those open whose time is over.
    socket.destroy()
    options.handshakeFailed?.()
  })

  return {
    listen: (port, address) =>
      new Promise((resolve, reject) => {
        tlsServer.once('error', reject)
        tlsServer.listen(port, address, () => {
          tlsServer.off('error', reject)
          tlsServer.on('error', () => {})
          resolve((tlsServer.address() as { port: number }).port)
        })
      }),
    renew: (cert, key) => tlsServer.setSecureContext(tlsOptions({ ...options, cert, key })),
    drain: () =>
      new Promise((resolve) => {
        tlsServer.close(() => resolve())
        draining = true
        drainConnections()
        if (sockets.size === 0) resolve()
      }),
    destroy() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** All of what a connection is secured with: Node forgets what it is not told again with new keys. */
function tlsOptions({ cert, key, clientAuthorities }: ListenerOptions): tls.SecureContextOptions {
  return {
    cert,
    key,
    ...(clientAuthorities !== undefined && { ca: clientAuthorities }),
    minVersion: 'TLSv1.2',
    ciphers,
    honorCipherOrder: true,
  }
}
