/** Sends a backend's response to the client, no faster than the client reads. */
import type { Readable } from 'node:stream'
import type { AnswerHeaders, Exchange, Sink } from '#http/exchange.ts'
import { answerHeaders } from '#http/response/answer-headers.ts'

/**
 * Merges the backend's headers with ours. A header that both set appears twice, ours first, so that
 * caches obey the stricter one and no warning is lost.
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
 * Resolves when the response is sent, or when one side has disconnected. An incomplete response is
 * broken off, not ended. `stopping` ends watches and followed logs. `given` is an open sink.
 * `endsWhenCut`: an incomplete response is ended normally, as for logs.
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
