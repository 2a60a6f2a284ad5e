/** The certificates that a client sent in the TLS handshake: parsed, not verified. */
import type { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import type { ClientCertificates } from '#http/exchange.ts'

/** The maximum length of a client's chain: longer than that of any usual authority. */
const chainLengthMax = 8

/** The client's certificate and its chain; undefined if the client sent none. */
export function certificatesOf(socket: TLSSocket): ClientCertificates | undefined {
  const leaf = socket.getPeerX509Certificate?.()
  if (leaf === undefined) return undefined
  const intermediates: X509Certificate[] = []
  for (let next = leaf.issuerCertificate; next !== undefined; next = next.issuerCertificate) {
    if (next === leaf || intermediates.includes(next) || intermediates.length >= chainLengthMax)
      break
    intermediates.push(next)
  }
  return { leaf, intermediates }
}
