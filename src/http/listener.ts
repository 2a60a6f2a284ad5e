/**
 * HTTP/2 and HTTP/1.1 on one TLS port. Hands each request on as a `Wire`; knows nothing of
 * Kubernetes. No request, however malformed, ends the process: what the parsers refuse is closed,
 * what handlers throw is their own affair.
 */
import type { Server as NetServer, Socket } from 'node:net'
import tls from 'node:tls'
import { loadLater } from '#base/load-later.ts'
import type { Http1Connections, Http1Options } from './http1-connections.ts'
import type { Http2Connection } from './http2/connection.ts'
import type { RenewableServer, Securing, TlsKeys } from './named-certificates.ts'

/** Each is loaded with the first connection that speaks it. */
const loadHttp1 = loadLater<typeof import('./http1-connections.ts')>(
  import.meta.url,
  './http1-connections',
)
const loadHttp2 = loadLater<typeof import('./http2/connection.ts')>(
  import.meta.url,
  './http2/connection',
)
/** Loaded with the first handshake that fails. */
const loadPlainHttp = loadLater<typeof import('./plain-http.ts')>(import.meta.url, './plain-http')
/** And this where a server has more than one certificate. */
const loadNamed = loadLater<typeof import('./named-certificates.ts')>(
  import.meta.url,
  './named-certificates',
)

export interface ListenerOptions extends Http1Options, TlsKeys {
  /**
   * Authorities named to clients when requesting their certificate; verification is
   * authentication's work.
   */
  readonly clientAuthorities: Buffer | undefined
  /** OpenSSL's list of cipher suites; the usual ones where unset. */
  readonly ciphers?: string | undefined
  /** The oldest version of TLS; 1.2 where unset. */
  readonly minVersion?: tls.SecureVersion | undefined
  /** Requests at once on one connection of HTTP/2; the usual number where unset. */
  readonly http2StreamsMax?: number
  /**
   * How long until a connection's first word, and until it is secure; the usual times where unset.
   */
  readonly prefaceMs?: number
  readonly handshakeMs?: number
  /** A connection failed before it was secure. */
  readonly handshakeFailed?: () => void
}

/**
 * As Go prefers them: of the ciphers that are good enough, the one that costs least comes first.
 */
const usualCiphers = ['TLS_AES_128_GCM_SHA256', ...tls.DEFAULT_CIPHERS.split(':')].join(':')

/**
 * Versions that OpenSSL refuses at its default level of security, whatever other options are set.
 */
const oldVersions: readonly (tls.SecureVersion | undefined)[] = ['TLSv1', 'TLSv1.1']

/** How long a client may take for the handshake, as in kube-apiserver. */
const handshakeMsMax = 32_000

/** How long a connection may be silent before TCP probes the other end. */
const keepAliveProbeMs = 60_000

export interface Listener {
  /** `port` may be a socket that listens there already. Resolves with the number of the port. */
  listen(port: number | NetServer, address: string, isShared?: boolean): Promise<number>
  /** New keys for connections that come from now on. */
  renew(keys: TlsKeys): void
  /** The same keys, and other authorities named to clients that come from now on. */
  trust(clientAuthorities: Buffer): void
  /** Stops accepting; connections end once their requests are done. */
  drain(): Promise<void>
  /** Ends what is left. */
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
    // A handshake that was under way when the server stopped.
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
    // Node leaves a connection open whose handshake took too long.
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

/** All options that secure a connection: Node forgets those that are not repeated with new keys. */
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
