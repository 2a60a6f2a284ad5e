/** Parses the events of a watch: lines of JSON, in chunks that may end anywhere. */
import type { KubeObject } from '#api/object-meta.ts'
import { FailedRequest } from './failed-request.ts'

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: KubeObject
}

const newline = 0x0a

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let pieces: Buffer[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, end)]).toString('utf8')
      pieces = []
      from = end + 1
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from))
  }
}

/** Throws the Status of an ERROR event, such as 410 for an expired resourceVersion. */
export async function* watchEvents(
  url: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<WatchEvent, void, undefined> {
  for await (const line of linesOf(chunks)) {
    const event = JSON.parse(line) as { type: string; object: { code?: number } }
    if (event.type === 'ERROR')
      throw new FailedRequest('WATCH', url, event.object.code ?? 500, JSON.stringify(event.object))
    yield event as unknown as WatchEvent
  }
}
