/** Encodes watch events in the negotiated representation. */
import { after } from '#base/awaitable.ts'
import type { ApiError } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import { cutLength, writeCut } from '#codec/cut-object.ts'
import { encodeWatchFrame } from '#codec/protobuf.ts'
import type { Kind } from '#kinds/kind.ts'
import type { EventType } from '#watchcache/batch.ts'
import { bookmarkFrame, bookmarkObject } from './bookmark.ts'
import type { Exchange } from '#http/exchange.ts'
import type { HttpParts } from '#http/parts.ts'
import { protobufValue } from '#http/response/protobuf-shapes.ts'
import { cutFor, headerOf, insertedText } from '#http/response/represent.ts'
import type { Shape } from '#http/response/shape.ts'
import type { TypedFramer } from './watch-stream.ts'

const loadCbor = loadLater<typeof import('#http/response/cbor-shapes.ts')>(
  import.meta.url,
  '#http/response/cbor-shapes',
)
const loadOther = loadLater<typeof import('./other-framer.ts')>(import.meta.url, './other-framer')

export function framerFor(
  kind: Kind,
  shape: Shape,
  parts: HttpParts,
  exchange: Exchange,
): TypedFramer {
  if (!shape.plainJson) return loadOther().otherFramer({ kind, shape, parts, exchange })
  const parse = parts.server.parseStored
  return {
    shape: `json ${kind.apiVersion} ${kind.plural}`,
    contentType: shape.contentType,
    frame(type, entry, revision) {
      const cut = cutFor(kind, entry, parse)
      const text = insertedText(kind, { namespace: entry.namespace, name: entry.name, revision })
      return after(cut, (ready) => jsonFrame(kind, type, ready, text))
    },
    bookmark: (revision, endsInitial) => bookmarkFrame(bookmarkObject(kind, revision, endsInitial)),
  }
}

/**
 * A watch reports its error as an event, because its response has already started with status 200.
 */
export function errorFrame(shape: Shape, error: ApiError): Buffer {
  const status = error.status()
  if (shape.format === 'protobuf')
    return encodeWatchFrame('ERROR', protobufValue(status, undefined))
  if (shape.format === 'cbor') {
    const { cborFrame, cborValue } = loadCbor()
    return cborFrame('ERROR', cborValue(status))
  }
  return Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`)
}

function jsonFrame(
  kind: Kind,
  type: EventType,
  cut: Parameters<typeof cutLength>[0],
  text: string,
): Buffer {
  const start = `{"type":"${type}","object":`
  const header = headerOf(kind)
  // An event keeps its frame as long as it is remembered: memory of its own, not a piece of the
  // pool.
  const out = Buffer.allocUnsafeSlow(start.length + cutLength(cut, header, text) + 2)
  let at = out.write(start, 0, 'latin1')
  at = writeCut(out, at, cut, header, text)
  out.write('}\n', at, 'latin1')
  return out
}
