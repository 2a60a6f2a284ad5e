/**
 * Sends one HTTPS request to another server, with a timeout and a limit for the response size.
 * Errors contain the destination and the cause, never the request body.
 */
import type { Agent as HttpAgent, IncomingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import { http } from '#base/node-http.ts'
import type { Identity } from './identity.ts'
import { type Namesake, namesake, namesakeCode } from './namesake.ts'
import { identityCheck, unnamedServers } from './server-identity.ts'

export interface HttpsCall {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The client identity. A connection is used only for the identity for which it was opened. */
  readonly identity?: Identity | undefined
  readonly timeoutMs: number
  readonly answerBytesMax: number
}

export interface CallAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface TlsSettings {
  readonly ca?: string
  readonly serverName?: string
  readonly insecure?: boolean
}

/** The error of a call without a complete response. */
export interface CallError extends Error {
  readonly code?: string
  readonly cause?: unknown
  /** The timeout has passed. */
  readonly late: boolean
  /** The response had started. */
  readonly answered: boolean
  /** Whether the call used a connection of an earlier call. */
  readonly reused: boolean
  /** The server's certificate, if the connection is new. */
  readonly shown?: PeerCertificate | undefined
}

export type Caller = (call: HttpsCall) => Promise<CallAnswer>

/**
 * How long an idle connection is kept open, as in Go. The server may move or may not be called
 * again.
 */
const idleMsDefault = 90_000

/**
 * A caller with its own pool of keep-alive connections. Idle connections do not keep the process
 * alive.
 */
export function caller(tls: TlsSettings, idleMsMax = idleMsDefault): Caller {
  const kept = { keepAlive: true, maxSockets: 64, timeout: idleMsMax }
  const agentTrusting = (ca?: string | string[]) =>
    new HttpsAgent({
      ...kept,
      ...(ca !== undefined && { ca }),
      // As in Go, trusting the server's own certificate or its issuer is enough; a chain up to a
      // root is not required.
      allowPartialTrustChain: true,
      ...(tls.serverName !== undefined && { servername: tls.serverName }),
      ...(tls.insecure !== true && { checkServerIdentity: identityCheck(unnamedServers.webhooks) }),
      rejectUnauthorized: tls.insecure !== true,
    })
  const secure = agentTrusting(tls.ca)
  const plain = new http.Agent(kept)
  let known: (Namesake & { readonly agent: HttpsAgent }) | undefined
  return async (call) => {
    if (call.url.protocol !== 'https:') return send(call, plain)
    const begunMs = performance.now()
    if (known !== undefined && known.notAfterMs < Date.now()) known = undefined
    try {
      return await send(call, known?.agent ?? secure)
    } catch (error) {
      const { code, shown } = error as CallError
      if (code !== namesakeCode || shown === undefined || tls.ca === undefined) throw error
      // The TLS handshake failed, so no request was sent yet.
      const found = namesake(shown.raw, tls.ca, Date.now())
      if (found === undefined) throw error
      known = { ...found, agent: agentTrusting([tls.ca, found.pem]) }
      const spentMs = Math.floor(performance.now() - begunMs)
      const timeoutMs = Math.max(1, call.timeoutMs - spentMs)
      return send({ ...call, timeoutMs }, known.agent)
    }
  }
}

function send(call: HttpsCall, agent: HttpAgent | HttpsAgent): Promise<CallAnswer> {
  const { method, url, body, timeoutMs, answerBytesMax } = call
  const { authorization, cert, key } = call.identity ?? {}
  const headers = { ...call.headers, ...(authorization !== undefined && { authorization }) }
  const where = `${method} ${url.origin}${url.pathname}`
  const request = url.protocol === 'https:' ? httpsRequest : http.request
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const fail = (error: Error & { code?: string }) => {
      const late = signal.aborted
      const why = late ? `no answer in ${timeoutMs} ms` : error.message
      const { code } = error
      const reused = outgoing.reusedSocket
      const reported = { code, cause: error, late, answered, reused, shown }
      reject(Object.assign(new Error(`${where}: ${why}`), reported))
    }
    let answered = false
    const outgoing = request(url, {
      method,
      agent,
      signal,
      headers,
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    })
    let shown: PeerCertificate | undefined
    outgoing.on('error', fail)
    // Without a listener, Node would silently end the connection after any time.
    outgoing.on('upgrade', (_response, socket) => {
      fail(new Error('the server left HTTP without being asked'))
      socket.destroy()
    })
    outgoing.on('socket', (socket) => {
      if (outgoing.reusedSocket || !('getPeerCertificate' in socket)) return
      // After a rejection, the certificate is no longer available.
      const secure = socket as TLSSocket
      secure.prependOnceListener('secure', () => void (shown = secure.getPeerCertificate()))
    })
    outgoing.on('response', (response) => {
      answered = true
      const chunks: Buffer[] = []
      let size = 0
      response.on('error', fail)
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= answerBytesMax) return void chunks.push(chunk)
        // The response may have ended with these bytes, and then no further event follows.
        fail(new Error(`the answer is larger than ${answerBytesMax} bytes`))
        outgoing.destroy()
      })
      response.on('end', () => {
        const { statusCode: status = 0, headers: stated } = response
        const bytes = Buffer.concat(chunks)
        const isPacked = stated['content-encoding'] === 'gzip'
        try {
          const body = isPacked ? unpacked(bytes, answerBytesMax) : bytes.toString('utf8')
          resolve({ status, headers: stated, body })
        } catch (error) {
          fail(error as Error)
        }
      })
    })
    outgoing.end(body)
  })
}

/** Limits the decompressed size, because a small compressed response can expand to a large one. */
const unpacked = (bytes: Buffer, maxOutputLength: number): string =>
  process.getBuiltinModule('node:zlib').gunzipSync(bytes, { maxOutputLength }).toString('utf8')
