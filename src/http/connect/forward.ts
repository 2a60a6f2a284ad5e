/**
 * Forwards an ordinary request to a backend, and the response to the client. The caller provides
 * the error for an unreachable backend.
 */
import type { Readable } from 'node:stream'
import type { AnswerHeaders, Exchange } from '#http/exchange.ts'
import type { Backend } from './backend.ts'
import { BackendUnreachable, callBackend } from './call-backend.ts'
import { forwardResponse, withOurs } from './forward-response.ts'
import { answeredHeaders, type PassedHeaders } from './passed-headers.ts'

export interface Forwarding {
  readonly backend: Backend
  /** Path and query, encoded. */
  readonly path: string
  readonly headers: PassedHeaders
  /** The path that the client requested, decoded: the backend receives it. */
  readonly requestedPath: string
  readonly answerTimeoutMs?: number
  /** Set if the response may not end by itself, as for watches. */
  readonly stopping?: AbortSignal
  /** Sends the error if the backend does not respond. */
  readonly unreachable: (words: string) => void
  /** Replaces or returns the response before it is forwarded. */
  readonly look?: (answer: Passing) => Passing | Promise<Passing>
}

export interface Passing {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: Readable
}

export async function forward(exchange: Exchange, forwarding: Forwarding): Promise<void> {
  const { wire } = exchange
  const uri = headerBytes(forwarding.requestedPath)
  if (uri === undefined)
    return forwarding.unreachable('net/http: invalid header field value for "X-Forwarded-Uri"')
  let answer: Awaited<ReturnType<typeof callBackend>>
  try {
    answer = await callBackend({
      ...forwarding,
      headers: { ...forwarding.headers, 'x-forwarded-uri': uri },
      method: wire.method,
      body: exchange.body ?? wire.bodyStream?.(),
      signal: wire.signal,
    })
  } catch (error) {
    if (!(error instanceof BackendUnreachable)) throw error
    return forwarding.unreachable(error.message)
  }
  const passing = {
    status: answer.statusCode ?? 502,
    headers: withOurs(exchange, answeredHeaders(answer.headers)),
    body: answer as Readable,
  }
  const looked = forwarding.look === undefined ? passing : await forwarding.look(passing)
  await forwardResponse(exchange, looked.status, looked.headers, looked.body, forwarding.stopping)
}

/**
 * Converts a text to a header value, one character per byte; undefined if it contains control
 * characters.
 */
function headerBytes(text: string): string | undefined {
  const bytes = Buffer.from(text).toString('latin1')
  return /[\x00-\x08\x0a-\x1f\x7f]/.test(bytes) ? undefined : bytes
}
