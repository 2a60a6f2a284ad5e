/**
 * Sends a response in the requested representation. For the usual one, JSON of stored bytes,
 * nothing is decoded.
 */
import { pipeline, Readable } from 'node:stream'
import { EarlyRefusal } from '#access/forbidden.ts'
import type { Loose } from '#api/object-meta.ts'
import { type ApiError, tooManyRequests } from '#api/status-error.ts'
import { after } from '#base/awaitable.ts'
import { loadLater } from '#base/load-later.ts'
import type { Answer, ObjectView } from '#verbs/answer.ts'
import type { Entry, ParseStored } from '#watchcache/entry.ts'
import { answerHeaders } from './answer-headers.ts'
import { acceptsGzip, gzipped, gzipStream } from './compress.ts'
import type { AnswerHeaders, Exchange } from '#http/exchange.ts'
import type { PendingResponses } from './pending-responses.ts'
import { itemPieces, listEnd, listStart } from './list-body.ts'
import { ListMemo, memoBytesMax } from './list-memo.ts'
import type { HttpParts } from '#http/parts.ts'
import { convertedUncached, convertTogether, cutFor, jsonOf } from './represent.ts'
import { encodeObject, encodeValue } from './other-shapes.ts'
import { type Shape, shapeOfError } from './shape.ts'

const loadTables = loadLater<typeof import('./table-shape.ts')>(import.meta.url, './table-shape')

/** JSON ends with a line break unless it is indented. */
const lineEnd = '\n'

type ObjectAnswer = Extract<Answer, { is: 'object' }>

/** Like kube-apiserver, compress responses over 128 KiB for clients that accept gzip. */
const gzipBytesMin = 128 * 1024 + 1
/** Lists up to this size are compressed as a whole. */
const wholeListBytesMax = 4 << 20
/** The size of the pieces of a list when much response data is pending. */
const scarceBytesMax = 64 * 1024
/** The Retry-After of a rejected read when much response data is pending. */
const retryAfterSeconds = 1

/** Returns a promise only for conversions by webhook, compression and streamed responses. */
export function respond(
  exchange: Exchange,
  parts: HttpParts,
  answer: Answer,
  shape: Shape,
): void | Promise<void> {
  const elsewhere = 'kind' in answer && answer.kind.resource.convertsElsewhere === true
  if (!elsewhere) return sendAnswer(exchange, parts, answer, shape)
  return convertedAgain(answer, parts.server.parseStored).then((anew) =>
    sendAnswer(exchange, parts, anew, shape),
  )
}

function sendAnswer(
  exchange: Exchange,
  parts: HttpParts,
  answer: Answer,
  shape: Shape,
): void | Promise<void> {
  exchange.answer = answer
  switch (answer.is) {
    case 'object': {
      const { kind, status, view } = answer
      const sendBody = (body: Buffer) => send(exchange, status, shape, body)
      if (shape.plainJson) {
        return after(cutFor(kind, view, parts.server.parseStored), (cut) =>
          sendBody(jsonOf(kind, cut, viewOf(answer, exchange), lineEnd)),
        )
      }
      const shown = { ...answer, view: viewOf(answer, exchange) }
      return encodeObject(shown, shape, parts, exchange).then(sendBody)
    }
    case 'list': {
      if (shape.plainJson) return sendList(exchange, parts, answer, shape)
      if (shape.format === 'protobuf' && shape.as === undefined)
        return sendProtobufList(exchange, parts, answer, shape)
      const isWhole = shape.as === undefined
      if (isWhole) holdAll(exchange, answer.entries)
      return loadOtherLists()
        .encodeList(answer, shape, parts, exchange)
        .then((body) => (isWhole ? sendMade : send)(exchange, 200, shape, body))
    }
    case 'value': {
      const value = linked(answer.value, exchange, parts)
      const { apiVersion, kind } = value
      if (shape.as?.kind === 'Table' && kind === 'Scale' && exchange.kind !== undefined) {
        const requested = { kind: exchange.kind, shape, parts, exchange }
        return send(
          exchange,
          answer.status,
          shape,
          loadTables().scaleTable(requested, value as never),
        )
      }
      const type =
        shape.format === 'protobuf' || shape.format === 'cbor'
          ? parts.server.typeNamed(apiVersion, kind)
          : undefined
      const body = encodeValue(value, shape, type, exchange.kind?.decoding === 'free')
      return send(exchange, answer.status, shape, body)
    }
    case 'json':
      return send(
        exchange,
        answer.status,
        shape,
        Buffer.from(JSON.stringify(answer.value) + lineEnd),
      )
  }
}

async function convertedAgain(answer: Answer, parse: ParseStored): Promise<Answer> {
  if (answer.is === 'object') {
    const [view] = await convertedUncached(answer.kind, [answer.view], parse)
    return { ...answer, view }
  }
  if (answer.is !== 'list') return answer
  const entries = await convertedUncached(answer.kind, answer.entries, parse)
  // The webhook's result may differ next time, so these items are not cached.
  const { itemsName: _, ...rest } = answer
  return { ...rest, entries }
}

export function respondError(exchange: Exchange, error: ApiError): void {
  const shape = shapeOfError(exchange)
  exchange.refusal = error
  const body = encodeValue(error.status() as Loose & { kind: string; apiVersion: string }, shape)
  const headers = answerHeaders(exchange, shape.contentType)
  const retry = error.details?.retryAfterSeconds
  if (retry !== undefined && retry > 0) headers['retry-after'] = String(retry)
  if (error instanceof EarlyRefusal) headers['x-content-type-options'] = 'nosniff'
  if (error.challenge !== undefined) headers['www-authenticate'] = error.challenge
  finish(exchange, error.code, body.length)
  exchange.wire.answer(error.code, headers, body)
}

function finish(exchange: Exchange, status: number, bytes: number): void {
  exchange.status = status
  exchange.answeredBytes += bytes
}

export function send(
  exchange: Exchange,
  status: number,
  shape: { readonly contentType: string },
  body: Buffer,
  more?: AnswerHeaders,
): void | Promise<void> {
  requireRoom(exchange, body.length)
  return sendMade(exchange, status, shape, body, more)
}

/** Sends a body without the check for pending response data, which was done before encoding. */
function sendMade(
  exchange: Exchange,
  status: number,
  shape: { readonly contentType: string },
  body: Buffer,
  more?: AnswerHeaders,
): void | Promise<void> {
  const headers = { ...answerHeaders(exchange, shape.contentType), ...more }
  finish(exchange, status, body.length)
  if (body.length >= gzipBytesMin && acceptsGzip(exchange)) {
    const vary = more?.vary === undefined ? 'Accept-Encoding' : [`${more.vary}`, 'Accept-Encoding']
    const zippedHeaders = { ...headers, 'content-encoding': 'gzip', vary }
    return gzipped(body).then((packed) => answer(exchange, status, zippedHeaders, packed))
  }
  answer(exchange, status, headers, body)
}

function answer(exchange: Exchange, status: number, headers: AnswerHeaders, body: Buffer): void {
  exchange.wire.answer(status, headers, body)
  hold(exchange, body.length)
}

const memo = new ListMemo()

const loadOtherLists = loadLater<typeof import('./other-lists.ts')>(
  import.meta.url,
  './other-lists',
)

const loadHeld = loadLater<typeof import('./pending-responses.ts')>(
  import.meta.url,
  './pending-responses',
)
/** Loaded with the first large response. */
let held: PendingResponses | undefined

/** Whether so much response data is pending that no large response may be encoded in advance. */
const isMuchHeld = (): boolean => held?.isMuch === true

/** Smaller responses are not counted; the limit of concurrent requests bounds them. */
const heldBytesMin = 1 << 20

function hold({ wire }: Exchange, bytes: number): void {
  if (bytes < heldBytesMin) return
  held ??= new (loadHeld().PendingResponses)()
  held.add(wire, bytes)
}

/**
 * Rejects a large read while much response data is pending. Writes are not rejected: they are done
 * already.
 */
function requireRoom({ wire }: Exchange, bytes: number): void {
  if (bytes >= heldBytesMin && isMuchHeld() && wire.method === 'GET')
    throw tooManyRequests('Too many requests, please try again later.', retryAfterSeconds)
}

/** The same check for a list that must be encoded as a whole, before it is encoded. */
function holdAll(exchange: Exchange, entries: readonly Entry[]): void {
  let bytes = 0
  for (const { cut } of entries) bytes += cut.bytes.length
  requireRoom(exchange, bytes)
  hold(exchange, bytes)
}

/** The selfLink of the response contains the requested subresource. */
function viewOf({ kind, view }: ObjectAnswer, { target }: Exchange): ObjectView {
  const { subresource } = target
  return kind.selfLinks !== true || subresource === '' ? view : { ...view, subresource }
}

/**
 * In releases with selfLink, values of subresources, such as Scale and TokenRequest, have one too.
 */
function linked<V extends Loose>(value: V, { target }: Exchange, parts: HttpParts): V {
  const { subresource, path, group, version, resource } = target
  if (subresource === '' || value.kind === 'Status') return value
  if (parts.server.catalog.find(group, version, resource)?.selfLinks !== true) return value
  return { ...value, metadata: { ...value.metadata, selfLink: path } }
}

async function sendList(
  exchange: Exchange,
  parts: HttpParts,
  answer: Answer & { is: 'list' },
  shape: Shape,
): Promise<void> {
  const { kind, itemsName } = answer
  const selfLink = kind.selfLinks ? exchange.target.path : undefined
  const alwaysContinues = kind.itemsCarryType
  const { revision, continueToken, remaining } = answer
  const names = { kind: kind.listKind, apiVersion: kind.apiVersion }
  const start = Buffer.from(
    listStart({ ...names, revision, continueToken, remaining, selfLink, alwaysContinues }),
  )
  const name = itemsName && `${kind.apiVersion} ${itemsName}`
  const known = name && memo.get(name)
  if (known) return sendPieces(exchange, shape, [start, ...known, listEnd])
  const parse = parts.server.parseStored
  await convertTogether(kind, answer.entries, parse)
  const cutOf = (entry: Entry) => cutFor(kind, entry, parse)
  const pieces = itemPieces(kind, answer.entries, cutOf, isMuchHeld() ? scarceBytesMax : undefined)
  const made: Buffer[] = []
  let size = 0
  // `for await` would close the generator when the loop ends early, but streamPieces continues with
  // it.
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    made.push(next.value)
    size += next.value.length
    hold(exchange, next.value.length)
    // If much response data is pending, encode no faster than the client reads.
    if (size > (isMuchHeld() ? scarceBytesMax : memoBytesMax))
      return streamPieces(exchange, shape, [start, ...made], pieces)
  }
  if (name) memo.set(name, made)
  return sendPieces(exchange, shape, [start, ...made, listEnd])
}

async function sendProtobufList(
  exchange: Exchange,
  parts: HttpParts,
  answer: Answer & { is: 'list' },
  shape: Shape,
): Promise<void> {
  const name = answer.itemsName && `protobuf ${answer.kind.apiVersion} ${answer.itemsName}`
  const known = name ? memo.get(name)?.[0] : undefined
  if (known === undefined) holdAll(exchange, answer.entries)
  const { items, pieces } = await loadOtherLists().protobufPieces(answer, known, parts, exchange)
  if (name && known === undefined) memo.set(name, [items])
  return sendPieces(exchange, shape, pieces)
}

/** Sends a complete list, compressed if that is worthwhile. */
function sendPieces(
  exchange: Exchange,
  shape: Shape,
  pieces: readonly Buffer[],
): void | Promise<void> {
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (size < wholeListBytesMax && acceptsGzip(exchange))
    return send(exchange, 200, shape, Buffer.concat(pieces))
  if (acceptsGzip(exchange)) return streamPieces(exchange, shape, pieces, undefined)
  finish(exchange, 200, size)
  exchange.wire.answerPieces(200, answerHeaders(exchange, shape.contentType), pieces)
}

/**
 * Streams a list that is too large for memory, no faster than the client reads. Compresses it if
 * the client accepts gzip.
 */
async function streamPieces(
  exchange: Exchange,
  shape: Shape,
  first: readonly Buffer[],
  rest: AsyncIterable<Buffer> | undefined,
): Promise<void> {
  const headers = answerHeaders(exchange, shape.contentType)
  const zipped = acceptsGzip(exchange)
  if (zipped) Object.assign(headers, { 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
  const sink = exchange.wire.stream(200, headers)
  const all = allOf(exchange, first, rest)
  // The loop below throws its errors, so the callback ignores them.
  const bytes: AsyncIterable<Buffer> = zipped
    ? pipeline(Readable.from(all), gzipStream(), () => {})
    : all
  try {
    for await (const piece of bytes) {
      if (sink.closed) return
      if (!sink.write(piece)) await sink.drained()
    }
    sink.end()
  } catch (error) {
    sink.abort?.()
    throw error
  }
}

async function* allOf(
  exchange: Exchange,
  first: readonly Buffer[],
  rest: AsyncIterable<Buffer> | undefined,
): AsyncGenerator<Buffer> {
  for (const piece of first) {
    finish(exchange, 200, piece.length)
    yield piece
  }
  if (rest === undefined) return
  for await (const piece of rest) {
    finish(exchange, 200, piece.length)
    yield piece
  }
  yield listEnd
}
