/** /openapi/v2 and /openapi/v3: the OpenAPI documents. Clients with the current ETag get 304. */
import { parseAccept } from '#codec/accept-header.ts'
import { acceptsGzip, gzipped } from '#http/response/compress.ts'
import type { Published } from '#discovery/openapi/publisher.ts'
import type { OpenApiDocuments } from '#http/aggregation/remote-documents.ts'
import { change, type Release } from '#api/releases/change.ts'
import { pathNotFound } from '#api/status-error.ts'
import type { AnswerHeaders, Exchange } from '#http/exchange.ts'
import type { PathHandler } from '#http/parts.ts'
import { answerHeaders } from '#http/response/answer-headers.ts'
import { headerText } from '#access/authenticate/header-values.ts'

const protobufSubtype = 'com.github.proto-openapi.spec.v2@v1.0+protobuf'
/**
 * The content types of the v2 document and of the v3 index. kube-apiserver sets none; Go detects
 * these types from the contents.
 */
const jsonContentType = 'text/plain; charset=utf-8'
const protobufContentType = 'application/octet-stream'
/**
 * The number of compressed documents that are cached: both formats of v2, and those of v3 on first
 * use.
 */
const packedMax = 64

interface Document {
  readonly published: Published
  readonly contentType: string
}

const servesV3 = change('kube-apiserver serves OpenAPI v3', { since: 24 })
const documentsHaveType = change('OpenAPI v3 documents have the content type application/json', {
  since: 27,
})

/** OpenAPI v3 is served for every release, because newer clients request it first. */
export function openApiPaths(publisher: OpenApiDocuments, release: Release): PathHandler {
  const isStandard = release.has(servesV3)
  const isTyped = !isStandard || release.has(documentsHaveType)
  const documentType = isTyped ? 'application/json' : jsonContentType
  const indexType = isStandard ? jsonContentType : 'application/json'
  const packed = new Map<string, Promise<Buffer>>()
  const pack = ({ bytes, hash }: Published): Promise<Buffer> => {
    let made = packed.get(hash)
    if (made === undefined) {
      if (packed.size >= packedMax) packed.clear()
      made = gzipped(bytes)
      packed.set(hash, made)
    }
    return made
  }
  return {
    matches: (path) => path === '/openapi/v2' || /^\/openapi\/v3(\/|$)/.test(path),
    async handle(exchange) {
      const { path } = exchange.target
      if (path === '/openapi/v2')
        return answer(exchange, await secondVersion(exchange, publisher), pack)
      const name = documentName(path, isStandard)
      const published = name === undefined ? await publisher.v3Index() : publisher.v3(name)
      const contentType = name === undefined ? indexType : documentType
      if (published !== undefined) return answer(exchange, { published, contentType }, pack)
      if (!isStandard) throw pathNotFound()
      answerEmpty(exchange, 404, {})
    },
  }
}

/** Undefined for the path of the index. */
function documentName(path: string, isStandard: boolean): string | undefined {
  const rest = path.slice('/openapi/v3'.length)
  if (isStandard) return rest === '' ? undefined : rest.slice(1)
  return rest.replace(/^\/|\/$/g, '') || undefined
}

/** A response without a body and without its content type. */
function answerEmpty(exchange: Exchange, status: number, more: AnswerHeaders): void {
  exchange.status = status
  const { 'content-type': _, ...headers } = answerHeaders(exchange, '')
  exchange.wire.answer(status, { ...headers, ...more }, undefined)
}

/** JSON unless only protobuf is accepted; undefined if neither is. */
async function secondVersion(
  { wire }: Exchange,
  publisher: OpenApiDocuments,
): Promise<Document | undefined> {
  const accept = headerText(wire.headers.accept)
  for (const { type, subtype } of parseAccept(accept === '' ? '*/*' : accept)) {
    if (type !== '*' && type !== 'application') continue
    if (subtype === '*' || subtype === 'json') {
      return { published: await publisher.v2(), contentType: jsonContentType }
    }
    if (subtype === protobufSubtype) {
      return { published: await publisher.v2Protobuf(), contentType: protobufContentType }
    }
  }
  return undefined
}

async function answer(
  exchange: Exchange,
  document: Document | undefined,
  pack: (published: Published) => Promise<Buffer>,
): Promise<void> {
  const { wire } = exchange
  if (document === undefined) {
    answerEmpty(exchange, 406, { vary: 'Accept-Encoding, Accept' })
    return
  }
  const { published, contentType } = document
  const etag = `"${published.hash}"`
  const { 'content-type': type, ...others } = answerHeaders(exchange, contentType)
  const headers = { ...others, etag, vary: 'Accept-Encoding, Accept' }
  const known = headerText(wire.headers['if-none-match'])
    .split(',')
    .map((one) => one.trim())
  if (known.includes(etag) || known.includes('*')) {
    exchange.status = 304
    wire.answer(304, headers, undefined)
    return
  }
  const zipped = acceptsGzip(exchange)
  const body = zipped ? await pack(published) : published.bytes
  exchange.status = 200
  exchange.answeredBytes += body.length
  const encoding = zipped && { 'content-encoding': 'gzip' }
  wire.answer(200, { ...headers, 'content-type': type, ...encoding }, body)
}
