/**
 * HTTP/2 and HTTP/1.1 on one TLS port. It passes each request on as a `Wire` and knows nothing
 * about Kubernetes. No malformed request ends the process: connections that the parsers reject are
 * closed. Handlers deal with their own exceptions.
 */
import type { Server as NetServer, Socket } from 'node:net'
import tls from 'node:tls'
import { loadLater } from '#base/load-later.ts'
import type { Http1Connections, Http1Options } from './http1-connections.ts'
import type { Http2Connection } from '#http/http2/connection.ts'
import type { RenewableServer, Securing, TlsKeys } from './named-certificates.ts'

/** Each protocol is loaded with its first connection. */
const loadHttp1 = loadLater<typeof import('./http1-connections.ts')>(
  import.meta.url,
  './http1-connections',
)
const loadHttp2 = loadLater<typeof import('#http/http2/connection.ts')>(
  import.meta.url,
  '#http/http2/connection',
)
/** Loaded with the first failed handshake. */
const loadPlainHttp = loadLater<typeof import('./plain-http.ts')>(import.meta.url, './plain-http')
/** Loaded if the server has several certificates. */
const loadNamed = loadLater<typeof import('./named-certificates.ts')>(
  import.meta.url,
  './named-certificates',
)

export interface ListenerOptions extends Http1Options, TlsKeys {
  /**
   * The certificate authorities announced to clients; the authentication filter verifies
   * certificates.
   */
  readonly clientAuthorities: Buffer | undefined
  /** OpenSSL's list of cipher suites; default: `usualCiphers`. */
  readonly ciphers?: string | undefined
  /** The oldest TLS version; default: 1.2. */
  readonly minVersion?: tls.SecureVersion | undefined
  /** Concurrent requests per HTTP/2 connection; default: as in kube-apiserver. */
  readonly http2StreamsMax?: number
  /** The timeouts of the HTTP/2 preface and of the TLS handshake. */
  readonly prefaceMs?: number
  readonly handshakeMs?: number
  /** Called when a TLS handshake fails. */
  readonly handshakeFailed?: () => void
}

/** Like Go, prefer the cheapest of the secure ciphers. */
const usualCiphers = ['TLS_AES_128_GCM_SHA256', ...tls.DEFAULT_CIPHERS.split(':')].join(':')

/** OpenSSL accepts these versions only at security level 0. */
const oldVersions: readonly (tls.SecureVersion | undefined)[] = ['TLSv1', 'TLSv1.1']

/** The timeout of the TLS handshake, as in kube-apiserver. */
const handshakeMsMax = 32_000

/** After this much silence on a connection, TCP probes the client. */
const keepAliveProbeMs = 60_000

export interface Listener {
  /** `port` may be a listening socket. Resolves with the port number. */
  listen(port: number | NetServer, address: string, isShared?: boolean): Promise<number>
  /** Uses new keys for new connections. */
  renew(keys: TlsKeys): void
  /** Announces other certificate authorities to new clients. */
  trust(clientAuthorities: Buffer): void
  /** Stops accepting connections; each connection closes when its requests are done. */
  drain(): Promise<void>
  /** Closes the remaining connections. */
  destroy(): void
}

export function createListener(options: ListenerOptions): Listener {
  const sockets = new Set<Socket>()
  const connections = new Set<Http2Connection>()
  let http1: Http1Connections | undefined
  let draining = false
  let { clientAuthorities } = options
  let keysInUse: TlsKeys = options
  const drainConnections = () => {
    for (const connection of connections) connection.close()
    http1?.drain()
  }
  const secured = (socket: tls.TLSSocket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, keepAliveProbeMs)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    if (socket.alpnProtocol === 'h2') {
      const connection = http2Connection(socket, options)
      connections.add(connection)
      socket.on('close', () => connections.delete(connection))
    } else {
      http1 ??= new (loadHttp1().Http1Connections)(options)
      http1.take(socket)
    }
    // The handshake ended after the server began to stop.
    if (draining) drainConnections()
  }
  const securing = makeSecuring(options, () => clientAuthorities, secured)
  const { server: listening, renew } = options.named?.length
    ? loadNamed().serverOfNames(options, securing)
    : serverOfOne(options, securing)

  return {
    listen: (port, address, isShared = false) => listenAt(listening, port, address, isShared),
    renew(fresh) {
      keysInUse = fresh
      renew(fresh)
    },
    trust(authorities) {
      clientAuthorities = authorities
      renew(keysInUse)
    },
    drain: () =>
      new Promise((resolve) => {
        listening.close(() => resolve())
        draining = true
        drainConnections()
        if (sockets.size === 0) resolve()
      }),
    destroy() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

function makeSecuring(
  options: ListenerOptions,
  clientAuthorities: () => ListenerOptions['clientAuthorities'],
  secured: (socket: tls.TLSSocket) => void,
): Securing {
  const context = (keys: TlsKeys) =>
    tlsOptions({ ...options, ...keys, clientAuthorities: clientAuthorities() })
  const failed = (error: Error, socket: tls.TLSSocket) => {
    // Node does not close a connection whose handshake timed out.
    if (!loadPlainHttp().refusedPlainHttp(error, socket)) socket.destroy()
    options.handshakeFailed?.()
  }
  return {
    context,
    server: (keys, more) => {
      const server = tls.createServer({
        ...context(keys),
        ...more,
        ALPNProtocols: ['h2', 'http/1.1'],
        requestCert: true,
        rejectUnauthorized: false,
        handshakeTimeout: options.handshakeMs ?? handshakeMsMax,
      })
      server.on('secureConnection', secured)
      server.on('tlsClientError', failed)
      return server
    },
  }
}

function http2Connection(socket: tls.TLSSocket, options: ListenerOptions): Http2Connection {
  const { handle, prefaceMs, http2StreamsMax } = options
  return new (loadHttp2().Http2Connection)(socket, {
    handle,
    ...(prefaceMs !== undefined && { prefaceMs }),
    ...(http2StreamsMax !== undefined && { streamsMax: http2StreamsMax }),
  })
}

/** Resolves with the port. */
const listenAt = (server: NetServer, ...[port, host, reusePort]: Parameters<Listener['listen']>) =>
  new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    const place = typeof port === 'number' ? { port, host, reusePort } : port
    server.listen(place, () => {
      server.off('error', reject)
      server.on('error', () => {})
      resolve((server.address() as { port: number }).port)
    })
  })

function serverOfOne(keys: TlsKeys, securing: Securing): RenewableServer {
  const server = securing.server(keys)
  return { server, renew: (fresh) => server.setSecureContext(securing.context(fresh)) }
}

/** All options of a TLS context: Node resets those that are not repeated with new keys. */
function tlsOptions(options: ListenerOptions): tls.SecureContextOptions {
  const { cert, key, clientAuthorities, minVersion = 'TLSv1.2', ciphers = usualCiphers } = options
  return {
    cert,
    key,
    ...(clientAuthorities !== undefined && { ca: clientAuthorities }),
    minVersion,
    ciphers: oldVersions.includes(minVersion) ? `${ciphers}:@SECLEVEL=0` : ciphers,
    honorCipherOrder: true,
  }
}
