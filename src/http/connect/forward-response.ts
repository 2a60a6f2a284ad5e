/** A backend's answer on its way to the client, as fast as the client reads and no faster. */
import type { Readable } from 'node:stream'
import type { AnswerHeaders, Exchange, Sink } from '#http/exchange.ts'
import { answerHeaders } from '#http/answer-headers.ts'

/**
 * The backend's headers beside ours: a header that both set appears twice, ours first. So caches
 * heed the stricter, and no warning is lost.
 */
export const withOurs = (exchange: Exchange, headers: AnswerHeaders): AnswerHeaders => {
  const { 'content-type': _none, ...ours } = answerHeaders(exchange, '')
  const all: AnswerHeaders = { ...ours, ...headers }
  for (const [name, value] of Object.entries(ours)) {
    const theirs = headers[name]
    if (value !== undefined && theirs !== undefined) all[name] = [value, theirs].flat().map(String)
  }
  return all
}

/**
 * Resolves when all is written, or when either side is gone: a broken answer is broken off, never
 * ended. `stopping` ends answers that may have no end of their own: watches and followed logs.
 * `given`: a sink that is open already. `endsWhenCut`: what came is all there is, as of a log,
 * which has no end that could be missed.
 */
export async function forwardResponse(
  exchange: Exchange,
  status: number,
  headers: AnswerHeaders,
  body: Readable,
  stopping?: AbortSignal,
  { given, endsWhenCut }: { readonly given?: Sink | undefined; readonly endsWhenCut?: true } = {},
): Promise<void> {
  exchange.seat?.release()
  if (given === undefined) exchange.status = status
  const sink = given ?? exchange.wire.stream(status, headers)
  const stop = () => body.destroy()
  sink.onClose?.(stop)
  stopping?.addEventListener('abort', stop, { once: true })
  if (stopping?.aborted) stop()
  try {
    for await (const chunk of body) {
      if (sink.closed) break
      exchange.answeredBytes += (chunk as Buffer).length
      if (!sink.write(chunk as Buffer)) await sink.drained()
    }
    sink.end()
  } catch {
    if (endsWhenCut) sink.end()
    else sink.abort?.()
  } finally {
    stopping?.removeEventListener('abort', stop)
  }
}
