/**
 * Watch events in representations other than JSON: protobuf, tables, metadata. Loaded with the
 * first watch that requests one.
 */
import type { Transform } from '#codec/media-type.ts'
import { partialMetadata } from '#codec/partial-metadata.ts'
import { loadLater } from '#base/load-later.ts'
import { encodeWatchFrame } from '#codec/protobuf.ts'
import type { EventType } from '#watchcache/batch.ts'
import { bookmarkFrame, bookmarkObject } from './bookmark.ts'
import { withoutConversionAnnotations, withTimes } from '#http/response/metadata-alone.ts'
import { protobufBookmark, protobufFrame, protobufPartial } from '#http/response/protobuf-shapes.ts'
import { objectFor, selfLinkOf } from '#http/response/represent.ts'
import {
  type Asked,
  bookmarkTable,
  requireTableOptions,
  table,
} from '#http/response/table-shape.ts'
import type { Framer, TypedFramer } from './watch-stream.ts'

export function otherFramer(requested: Asked): TypedFramer {
  const { kind, shape } = requested
  const { contentType, as } = shape
  const whole = wholeFramer(requested)
  if (as === undefined) return { ...whole, contentType }
  const framer = as.kind === 'Table' ? tableFramer(requested) : partialFramer(requested, as)
  // In releases with selfLink, kube-apiserver cannot transform a bookmark, which has no name, so it
  // sends the whole object.
  return { ...framer, contentType, ...(kind.selfLinks && { bookmark: whole.bookmark }) }
}

function wholeFramer(requested: Asked): Framer {
  const { format } = requested.shape
  if (format === 'cbor') return cborFramer(requested)
  return format === 'protobuf' ? protobufFramer(requested) : jsonFramer(requested)
}

const loadCbor = loadLater<typeof import('#http/response/cbor-shapes.ts')>(
  import.meta.url,
  '#http/response/cbor-shapes',
)

function cborFramer({ kind, parts }: Asked): Framer {
  const { cborFrame, cborObject } = loadCbor()
  return {
    shape: `cbor ${kind.apiVersion} ${kind.plural}`,
    async frame(type, entry, revision) {
      const view = { ...entry, revision }
      return cborFrame(
        type,
        cborObject(kind, await objectFor(kind, view, parts.server.parseStored)),
      )
    },
    bookmark: (revision, endsInitial) =>
      cborFrame('BOOKMARK', cborObject(kind, bookmarkObject(kind, revision, endsInitial))),
  }
}

const jsonEvent = (type: EventType, object: object): Buffer =>
  Buffer.from(`${JSON.stringify({ type, object })}\n`)

const protobufFramer = ({ kind, parts }: Asked): Framer => ({
  shape: `protobuf ${kind.apiVersion} ${kind.plural}`,
  frame: (type, entry, revision) => protobufFrame(type, kind, { ...entry, revision }, parts),
  bookmark: (revision, endsInitial) => protobufBookmark(kind, revision, endsInitial),
})

const jsonFramer = ({ kind, parts }: Asked): Framer => ({
  shape: '',
  async frame(type, entry, revision) {
    const view = { ...entry, revision }
    return jsonEvent(type, await objectFor(kind, view, parts.server.parseStored))
  },
  bookmark: (revision, endsInitial) => bookmarkFrame(bookmarkObject(kind, revision, endsInitial)),
})

function tableFramer(requested: Asked): Framer {
  const { kind } = requested
  requireTableOptions(requested)
  let isBegun = false
  /** Frames are encoded concurrently, so the first one is determined before any is encoded. */
  const isFirst = () => {
    const first = !isBegun
    isBegun = true
    return first
  }
  return {
    shape: '',
    async frame(type, entry, revision) {
      const view = { ...entry, revision }
      const metadata = { ...selfLinkOf(kind, view), resourceVersion: String(revision) }
      return jsonEvent(type, await table(requested, [view], metadata, isFirst()))
    },
    bookmark: (revision, endsInitial) =>
      bookmarkFrame(
        bookmarkTable(requested, bookmarkObject(kind, revision, endsInitial), isFirst()),
      ),
  }
}

function partialFramer({ kind, shape: { format }, parts }: Asked, as: Transform): Framer {
  const isList = as.kind === 'PartialObjectMetadataList'
  return {
    shape: '',
    async frame(type, entry, revision) {
      const object = await objectFor(kind, { ...entry, revision }, parts.server.parseStored)
      // An object is not a list, so it gets no frame.
      if (isList) return Buffer.alloc(0)
      const partial = partialMetadata(withoutConversionAnnotations(kind, object), as.version)
      if (format === 'cbor') return loadCbor().cborFrame(type, loadCbor().cborValue(partial))
      return format === 'protobuf'
        ? encodeWatchFrame(type, protobufPartial(kind, partial, as))
        : jsonEvent(type, partial)
    },
    bookmark(revision, endsInitial) {
      if (isList) return undefined
      const object = partialMetadata(bookmarkObject(kind, revision, endsInitial), as.version)
      const partial = withTimes(object, parts.server.release)
      if (format === 'cbor') return loadCbor().cborFrame('BOOKMARK', loadCbor().cborValue(partial))
      return format === 'protobuf'
        ? encodeWatchFrame('BOOKMARK', protobufPartial(kind, partial, as))
        : bookmarkFrame(partial)
    },
  }
}
