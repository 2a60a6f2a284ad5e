/** Why a call failed, in the words Go's client has for it. */
import type { PeerCertificate } from 'node:tls'
import type { CallAnswer, CallError } from '#access/https-call.ts'
import { lookupWords } from '#access/lookup-words.ts'
import { legacyNameCode, legacyNameWords, notNamed } from '#access/server-identity.ts'
import { alertWords } from '#access/tls-alert.ts'
import { goQuote } from '#api/go-syntax.ts'
import { type Address, posted } from './address.ts'

const unknownAuthority = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

export function callProblem(error: CallError, address: Address, now = Date.now): string {
  if (!error.answered) return posted(address, why(error, address, now))
  const original = error.late
    ? 'context deadline exceeded'
    : error.code === 'ECONNRESET'
      ? 'unexpected EOF'
      : error.message
  return `unexpected error when reading response body. Please retry. Original error: ${original}`
}

const dialing: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
}

function why(error: CallError, { url, serverName }: Address, now: () => number): string {
  const { code = '' } = error
  if (error.late) return 'context deadline exceeded'
  if (code in dialing) return `dial tcp ${dialedOf(error, url)}: connect: ${dialing[code]}`
  const unknown = lookupWords(code, url.hostname)
  if (unknown !== undefined) return `dial tcp: ${unknown}`
  if (unknownAuthority.has(code)) return 'x509: certificate signed by unknown authority'
  const alert = alertWords(error.message)
  if (alert !== undefined) return alert
  switch (code) {
    case 'ECONNRESET':
      return 'EOF'
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `x509: certificate has expired or is not yet valid${outOfTime(error, now())}`
    case 'INVALID_PURPOSE':
      return 'x509: certificate specifies an incompatible key usage'
    case 'EPROTO':
      // It answered, and not in TLS.
      return 'http: server gave HTTP response to HTTPS client'
    case legacyNameCode:
      return legacyNameWords
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return notNamed(serverName ?? url.hostname, (error.cause as { cert?: PeerCertificate }).cert)
    default:
      return error.message
  }
}

/**
 * Whether the server's own certificate has expired or is not valid yet, as a text for the error.
 */
function outOfTime({ shown }: CallError, nowMs: number): string {
  if (!shown?.valid_to) return ''
  const [from, to] = [Date.parse(shown.valid_from), Date.parse(shown.valid_to)]
  if (nowMs < from) return `: current time ${seconds(nowMs)} is before ${seconds(from)}`
  return nowMs > to ? `: current time ${seconds(nowMs)} is after ${seconds(to)}` : ''
}

const seconds = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+/, '')

/** The address that was tried first, if the name has several. */
function dialedOf({ cause }: CallError, url: URL): string {
  const tried = cause instanceof AggregateError ? cause.errors[0] : cause
  const { address = url.hostname } = (tried ?? {}) as { address?: string }
  return `${address.includes(':') && !address.startsWith('[') ? `[${address}]` : address}:${url.port || '443'}`
}

const byStatus: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}
const notAcceptable =
  'the server was unable to respond with a content type that the client supports'

/** Texts of servers that are repeated to the client: no more of them than this. */
const repeatedMax = 2048

export function statusProblem({ status, headers, body }: CallAnswer): string {
  const reported = failureIn(body)
  if (reported !== undefined) return reported
  // Only text bodies are included in the error.
  const type = headers['content-type'] ?? ''
  const stated =
    type === '' || type.startsWith('text/') ? body.slice(0, repeatedMax).trim() : 'unknown'
  if (status === 403 || status === 415) return stated
  if (status === 406) return stated === '' || stated === 'unknown' ? notAcceptable : stated
  const known = byStatus[status]
  if (known !== undefined) return known
  return status >= 500
    ? `an error on the server (${goQuote(stated)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`
}

/** A failure Status in the body is used as it is. */
function failureIn(body: string): string | undefined {
  try {
    const { kind, apiVersion = 'v1', status, message } = JSON.parse(body)
    const fails = kind === 'Status' && apiVersion === 'v1' && status === 'Failure'
    return fails && typeof message === 'string' ? message.slice(0, repeatedMax) : undefined
  } catch {
    return undefined
  }
}
