/**
 * A TLS server with several certificates. Clients with SNI get the certificate of the requested
 * name. Clients without it get the certificate of the address that they called. So a TCP server
 * listens and forwards sockets to one TLS server per such address. The listener configures TLS.
 */
import { createServer, type Server } from 'node:net'
import tls from 'node:tls'
import { certificateChooser, type NamedCertificate, namedAddresses } from './server-names.ts'

export interface TlsKeys {
  readonly cert: string | Buffer
  readonly key: string | Buffer
  /** Additional certificates for certain server names. */
  readonly named?: readonly NamedCertificate[]
}

/** The TLS settings that all servers of a listener share. */
export interface Securing {
  context(keys: TlsKeys): tls.SecureContextOptions
  server(keys: TlsKeys, more?: tls.TlsOptions): tls.Server
}

export interface RenewableServer {
  /** The server that listens. */
  readonly server: Server
  /** Uses new keys for new connections. */
  renew(keys: TlsKeys): void
}

/** The TLS contexts: one for each certificate. */
interface Contexts {
  readonly choose: (name: string) => NamedCertificate | undefined
  readonly of: ReadonlyMap<NamedCertificate | undefined, tls.SecureContext>
}

function contextsOf(keys: TlsKeys, securing: Securing): Contexts {
  const { cert, named = [] } = keys
  const contextOf = (one: NamedCertificate | undefined) =>
    tls.createSecureContext(securing.context(one ?? keys))
  return {
    choose: certificateChooser(cert, named),
    of: new Map([undefined, ...named].map((one) => [one, contextOf(one)])),
  }
}

export function serverOfNames(keys: TlsKeys, securing: Securing): RenewableServer {
  let contexts = contextsOf(keys, securing)
  const byName: tls.TlsOptions = {
    SNICallback: (name, answer) => answer(null, contexts.of.get(contexts.choose(name))),
  }
  const main = securing.server(keys, byName)
  const byAddress = new Map(
    namedAddresses(keys.named ?? []).map((address) => [
      address,
      securing.server(contexts.choose(address) ?? keys, byName),
    ]),
  )
  const server = createServer((socket) => {
    // A dual-stack socket reports IPv4 addresses as IPv6-mapped addresses.
    const address = socket.localAddress?.replace(/^::ffff:(?=\d+\.)/, '') ?? ''
    const secure = byAddress.get(address) ?? main
    secure.emit('connection', socket)
  })
  return {
    server,
    renew(fresh) {
      contexts = contextsOf(fresh, securing)
      main.setSecureContext(securing.context(fresh))
      for (const [address, one] of byAddress)
        one.setSecureContext(securing.context(contexts.choose(address) ?? fresh))
    },
  }
}
