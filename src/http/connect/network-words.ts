/**
 * Messages for failed connections to other servers. They are those of Go's network library, which
 * operators know.
 */
import type { PeerCertificate } from 'node:tls'
import { goQuote } from '#api/go-syntax.ts'
import { lookupWords } from '#access/lookup-words.ts'
import { notNamed } from '#access/server-identity.ts'
import { alertWords } from '#access/tls-alert.ts'

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  EACCES: 'connect: permission denied',
  ETIMEDOUT: 'i/o timeout',
}

const certificateProblems: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'x509: certificate signed by unknown authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'x509: certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'x509: certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'x509: certificate signed by unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'x509: certificate signed by unknown authority',
  CERT_HAS_EXPIRED: 'x509: certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'x509: certificate has expired or is not yet valid',
  INVALID_PURPOSE: 'x509: certificate specifies an incompatible key usage',
}

export interface NetworkError extends Error {
  readonly code?: string
  /** The address that the name resolved to. */
  readonly address?: string
  readonly port?: number
  /** The requested host name, and the certificate that is not valid for it. */
  readonly host?: string
  readonly cert?: PeerCertificate
  /** The errors of all addresses, if several were tried. */
  readonly errors?: readonly NetworkError[]
  /** The received bytes, if they are not HTTP. */
  readonly rawPacket?: Buffer
}

/** `place` is the dialled host and port. */
export function networkWords(given: NetworkError, place: string): string {
  const error = given.errors?.[0] ?? given
  const code = error.code ?? ''
  const dialled = words[code]
  if (dialled !== undefined) return `dial tcp ${dialledPlace(error) ?? place}: ${dialled}`
  const unknown = lookupWords(code, place.replace(/:\d+$/, ''))
  if (unknown !== undefined) return `dial tcp: ${unknown}`
  if (code === 'ECONNRESET')
    return error.message === 'socket hang up' ? 'EOF' : 'read: connection reset by peer'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return notNamed(error.host ?? place.replace(/:\d+$/, ''), error.cert)
  if (code.startsWith('HPE_')) return brokenAnswer(error.rawPacket?.toString('latin1') ?? '')
  return certificateProblems[code] ?? handshakeWords(code, error.message) ?? error.message
}

function handshakeWords(code: string, message: string): string | undefined {
  return alertWords(message) ?? (code === 'EPROTO' ? notTls : undefined)
}

/** The server responded without TLS. */
const notTls = 'tls: first record does not look like a TLS handshake'

/** The message for direct calls, where Go's client detects a plain HTTP response. */
export const clientWords = (words: string): string =>
  words === notTls ? 'http: server gave HTTP response to HTTPS client' : words

/** The message for a response that is not HTTP, from its first invalid line. */
function brokenAnswer(text: string): string {
  const [line, ...more] = text.split(/\r?\n/)
  const [version, rest] = line.split(/ (.*)/s, 2)
  const status = rest?.trimStart().split(' ')[0] ?? ''
  const wrong =
    rest === undefined
      ? `HTTP response ${goQuote(line)}`
      : !/^\d{3}$/.test(status)
        ? `HTTP status code ${goQuote(status)}`
        : !/^HTTP\/\d\.\d$/.test(version)
          ? `HTTP version ${goQuote(version)}`
          : `MIME header: missing colon: ${goQuote(more.find((one) => !one.includes(':')) ?? '')}`
  return `net/http: HTTP/1.x transport connection broken: malformed ${wrong}`
}

function dialledPlace({ address, port }: NetworkError): string | undefined {
  if (address === undefined || port === undefined) return undefined
  return `${address.includes(':') ? `[${address}]` : address}:${port}`
}
