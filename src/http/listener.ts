/**
 * HTTP/2 and HTTP/1.1 on one TLS port. Hands each request on as a `Wire`; knows nothing of Kubernetes. No request,
 * however malformed, ends the process: what the parsers refuse is closed, what handlers throw is their own affair.
 */
import type { Socket } from 'node:net'
import tls from 'node:tls'
import { nodeHttp } from '#access/node-http.ts'
import { loadLater } from '#base/load-later.ts'
import type { Wire } from './exchange.ts'
import { wireOfUpgrade } from './connect/upgrade-wire.ts'
import { wireOfHttp1 } from './http1-wire.ts'
import type { Http2Connection } from './http2/connection.ts'

/** Loaded with the first connection that speaks it. */
const loadHttp2 = loadLater<typeof import('./http2/connection.ts')>(
  import.meta.url,
  './http2/connection',
)

export interface ListenerOptions {
  readonly cert: string | Buffer
  readonly key: string | Buffer
  /** Authorities named to clients when asking for their certificate; verification is authentication's work. */
  readonly clientAuthorities: Buffer | undefined
  readonly handle: (wire: Wire) => void
  /** An HTTP/1.1 upgrade: exec, attach, port-forward, aggregated watches. */
  readonly upgrade: (wire: Wire) => void
  /** Whether what is at this address, path and query as sent, can leave HTTP; elsewhere an upgrade is an ordinary request. */
  readonly upgradesAt: (url: string) => boolean
  /** How long a connection may be open without a complete request, and how long until its first word; the usual times where unset. */
  readonly requestAwaitedMs?: number
  readonly prefaceMs?: number
  /** A connection failed before it was secure. */
  readonly handshakeFailed?: () => void
}

/** Header bytes of one request: room for a large token, too little to hurt. */
const headerBytesMax = 64 * 1024
/** How long a connection may be open without a complete request: longer than one is kept alive between two of them. */
const requestAwaitedMsMax = 90_000

/** As Go prefers them: of the ciphers that are good enough, the one that costs least comes first. */
const ciphers = ['TLS_AES_128_GCM_SHA256', ...tls.DEFAULT_CIPHERS.split(':')].join(':')

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
    minVersion: 'TLSv1.2',
    ciphers,
    honorCipherOrder: true,
  })
  const http1 = nodeHttp.createServer({
    maxHeaderSize: headerBytesMax,
    requestTimeout: 0,
    keepAliveTimeout: 75_000,
    shouldUpgradeCallback: ({ url }) => options.upgradesAt(url as string),
  })
  // Node tells idle connections only of servers that listen themselves, and the one that listens here is the TLS server.
  const runningOn = new Map<Socket, number>()
  let draining = false
  // Nor does it look there for those who never finish their headers.
  const awaited = new Map<Socket, NodeJS.Timeout>()
  const awaitedMs = options.requestAwaitedMs ?? requestAwaitedMsMax
  const awaitRequest = (socket: Socket) => {
    clearTimeout(awaited.get(socket))
    awaited.set(socket, setTimeout(() => socket.destroy(), awaitedMs).unref())
  }
  const noLongerAwait = (socket: Socket) => {
    clearTimeout(awaited.get(socket))
    awaited.delete(socket)
  }
  http1.on('request', (request, response) => {
    const { socket } = request
    noLongerAwait(socket)
    runningOn.set(socket, (runningOn.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (runningOn.get(socket) ?? 1) - 1
      if (runningOn.has(socket)) runningOn.set(socket, left)
      if (draining && left === 0) socket.destroySoon()
      else if (left === 0 && !socket.destroyed) awaitRequest(socket)
    })
    options.handle(wireOfHttp1(request, response))
  })
  http1.on('upgrade', (request, socket, head) => {
    runningOn.delete(request.socket)
    noLongerAwait(request.socket)
    socket.on('error', () => {})
    options.upgrade(wireOfUpgrade(request, socket, head))
  })
  http1.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    else socket.destroy()
  })
  tlsServer.on('secureConnection', (socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, keepAliveProbeMs)
    socket.on('close', () => {
      sockets.delete(socket)
      runningOn.delete(socket)
      noLongerAwait(socket)
    })
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
      runningOn.set(socket, 0)
      awaitRequest(socket)
      http1.emit('connection', socket)
    }
  })
  tlsServer.on('tlsClientError', () => options.handshakeFailed?.())

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
        for (const connection of connections) connection.close()
        draining = true
        for (const [socket, running] of runningOn) if (running === 0) socket.destroySoon()
        if (sockets.size === 0) resolve()
      }),
    destroy() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

function tlsOptions({ cert, key, clientAuthorities }: ListenerOptions): tls.SecureContextOptions {
  return { cert, key, ...(clientAuthorities !== undefined && { ca: clientAuthorities }) }
}
