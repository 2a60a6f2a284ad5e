/**
 * A TLS server with several certificates. Clients say which name they call; those that say none are
 * known by the address they came to, so each address with a certificate has a server behind the one
 * that listens. How connections are secured beside that is the listener's affair.
 */
import { createServer, type Server } from 'node:net'
import tls from 'node:tls'
import { certificateChooser, type NamedCertificate, namedAddresses } from './server-names.ts'

export interface TlsKeys {
  readonly cert: string | Buffer
  readonly key: string | Buffer
  /** Further certificates, for clients that call the server by certain names. */
  readonly named?: readonly NamedCertificate[]
}

/** What all servers of a listener have in common. */
export interface Securing {
  context(keys: TlsKeys): tls.SecureContextOptions
  server(keys: TlsKeys, more?: tls.TlsOptions): tls.Server
}

export interface RenewableServer {
  /** What listens. */
  readonly server: Server
  /** New keys for connections that come from now on. */
  renew(keys: TlsKeys): void
}

/** What is chosen from: one context for each certificate. */
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
    // What listens on all addresses of both families sees those of the older one in the clothes of
    // the newer.
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
