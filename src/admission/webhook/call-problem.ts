/** Why a call failed, in the words Go's client has for it. */
import type { CallAnswer } from '#access/https-call.ts'
import { legacyNameCode, legacyNameWords } from '#access/server-identity.ts'
import type { Address } from './address.ts'

const unknownAuthority = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** `Post "https://…": why`. */
export function callProblem(
  error: Error & { code?: string },
  address: Address,
  timeoutMs: number,
): string {
  return `Post ${JSON.stringify(address.shown)}: ${why(error, address, timeoutMs)}`
}

function why(
  error: Error & { code?: string },
  { url, serverName }: Address,
  timeoutMs: number,
): string {
  const port = url.port || '443'
  const dialed = `${url.hostname}:${port}`
  if (error.message.includes('no answer in')) return 'context deadline exceeded'
  if (timeoutMs <= 0) return 'context deadline exceeded'
  switch (error.code) {
    case 'ECONNREFUSED':
      return `dial tcp ${dialed}: connect: connection refused`
    case 'EHOSTUNREACH':
      return `dial tcp ${dialed}: connect: no route to host`
    case 'ENETUNREACH':
      return `dial tcp ${dialed}: connect: network is unreachable`
    case 'ENOTFOUND':
      return `dial tcp: lookup ${url.hostname}: no such host`
    case 'ECONNRESET':
      return 'EOF'
    case 'CERT_HAS_EXPIRED':
      return 'x509: certificate has expired or is not yet valid'
    case legacyNameCode:
      return legacyNameWords
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `x509: certificate is not valid for ${serverName ?? url.hostname}`
    default:
      if (unknownAuthority.has(error.code ?? ''))
        return 'x509: certificate signed by unknown authority'
      return error.message
  }
}

const byStatus: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  403: 'unknown',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  406: 'the server was unable to respond with a content type that the client supports',
  409: 'the server reported a conflict',
  415: 'the body of the request was in an unknown format',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}

/** Texts of servers that are repeated to the client: no more of them than this. */
const repeatedMax = 2048

export function statusProblem({ status, body }: CallAnswer): string {
  const told = failureIn(body)
  if (told !== undefined) return told
  const known = byStatus[status]
  if (status === 403 && body !== '') return body.slice(0, repeatedMax)
  if (known !== undefined) return known
  if (status >= 500) {
    const said = body.trim().slice(0, repeatedMax) || 'unknown'
    return `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`
  }
  return `the server responded with the status code ${status} but did not return more information`
}

/** A Status that says itself what is wrong is believed. */
function failureIn(body: string): string | undefined {
  try {
    const { kind, apiVersion = 'v1', status, message } = JSON.parse(body)
    const fails = kind === 'Status' && apiVersion === 'v1' && status === 'Failure'
    return fails && typeof message === 'string' ? message.slice(0, repeatedMax) : undefined
  } catch {
    return undefined
  }
}
