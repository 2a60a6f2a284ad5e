/**
 * The response body of an aggregated server: as text with a size limit, or as the events of a
 * watch.
 */
import type { IncomingMessage } from 'node:http'
import { ApiError, serviceUnavailable } from '#api/status-error.ts'
import type { ClientEvent } from '#client/client.ts'

/** The limit of a response. Lists arrive in pages, so more would only fill memory. */
const answerBytesMax = 256 << 20
/** The longest watch event: twice the largest object, plus its envelope. */
const eventLengthMax = 8 << 20

export async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    size += (chunk as Buffer).length
    if (size > answerBytesMax) throw serviceUnavailable('the answer is too large')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString()
}

/** Ends with the response; an error event is thrown. */
export async function* eventsIn(
  answer: IncomingMessage,
  signal: AbortSignal,
): AsyncGenerator<ClientEvent> {
  answer.setEncoding('utf8')
  let line = ''
  try {
    for await (const chunk of answer) {
      // Only the new part is searched, because an event may arrive in thousands of pieces.
      for (const [i, part] of (chunk as string).split('\n').entries()) {
        if (i > 0) {
          const event = eventIn(line)
          if (event !== undefined) yield event
          line = ''
        }
        line += part
        if (line.length > eventLengthMax) throw serviceUnavailable('an event is too large')
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    answer.destroy()
  }
}

/** Undefined for a bookmark. */
function eventIn(line: string): ClientEvent | undefined {
  const { type, object } = JSON.parse(line)
  if (type === 'ERROR') {
    throw new ApiError(object.code ?? 500, object.reason ?? '', object.message ?? '')
  }
  return type === 'BOOKMARK' ? undefined : { type, object }
}
