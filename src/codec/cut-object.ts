/**
 * An object as JSON bytes, cut at its moving parts: the type header in front (absent from the items
 * of built-in lists, another one for another version) and the value of metadata.resourceVersion,
 * which is known only after the write. The encoder records the cuts; nothing ever searches for
 * them.
 *
 *   {"kind":"Pod","apiVersion":"v1",  "metadata":{"name":"a","uid":"…"  ,"generation":1},"spec":…}
 *                                   ^bodyAt                            ^revisionAt
 */
import type { KubeObject } from '#api/object-meta.ts'

export interface CutObject {
  /** The stored form: with its own type header, without a resourceVersion. */
  readonly bytes: Buffer
  readonly bodyAt: number
  readonly revisionAt: number
}

/** What stands before the resourceVersion, in Go's order of ObjectMeta. */
const headFields = ['name', 'generateName', 'namespace', 'selfLink', 'uid'] as const
const isHeadField: Record<string, true> = { __proto__: null, resourceVersion: true } as never
for (const field of headFields) isHeadField[field] = true

export function typeHeader(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`
}

function metadataHead(metadata: KubeObject['metadata']): string {
  let head = '"metadata":{'
  let comma = ''
  for (const field of headFields) {
    const value = metadata[field]
    if (value === undefined || value === '') continue
    head += `${comma}"${field}":${JSON.stringify(value)}`
    comma = ','
  }
  // The object may have been written by hand into the store: what is inserted after it begins with
  // a comma.
  return comma === '' ? `${head}"name":""` : head
}

/** Encodes once: the bytes written are the bytes answered, cached, listed and watched. */
export function encodeCut(object: KubeObject): CutObject {
  const header = typeHeader(object.kind as string, object.apiVersion as string)
  const head = metadataHead(object.metadata)
  let tail = ''
  const metadata = object.metadata as Record<string, unknown>
  for (const field in metadata) {
    if (isHeadField[field] || metadata[field] === undefined) continue
    tail += `,${JSON.stringify(field)}:${JSON.stringify(metadata[field])}`
  }
  tail += '}'
  for (const field in object) {
    if (field === 'kind' || field === 'apiVersion' || field === 'metadata') continue
    if (object[field] === undefined) continue
    tail += `,${JSON.stringify(field)}:${JSON.stringify(object[field])}`
  }
  const bodyAt = Buffer.byteLength(header)
  const revisionAt = bodyAt + Buffer.byteLength(head)
  return { bytes: ownBytes(`${header}${head}${tail}}`), bodyAt, revisionAt }
}

/**
 * Memory of its own size that is not shared, as for everything that is kept: Node's pool of small
 * buffers would keep 64 KiB of short-lived data alive with every such object.
 */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/**
 * Other servers end their JSON with a new line; this one never does. An object without a uid was
 * written by hand, not by a server.
 */
export const isOthersJson = (bytes: Buffer, object: KubeObject): boolean =>
  bytes[bytes.length - 1] === 0x0a || object.metadata?.uid === undefined

/**
 * The cuts of bytes that came from the store, with the object that was parsed from them. Where the
 * bytes are not in our own order (another writer's), they are encoded anew.
 */
export function cutStored(bytes: Buffer, object: KubeObject): CutObject {
  const start =
    typeHeader(object.kind as string, object.apiVersion as string) + metadataHead(object.metadata)
  const length = Buffer.byteLength(start)
  const same =
    bytes.length > length &&
    !isOthersJson(bytes, object) &&
    bytes.toString('utf8', 0, length) === start
  if (!same || object.metadata.resourceVersion !== undefined) return encodeCut(object)
  const header = typeHeader(object.kind as string, object.apiVersion as string)
  return { bytes, bodyAt: Buffer.byteLength(header), revisionAt: length }
}

/** Name, namespace and uid: they stand before the cut, and nothing else needs to be read. */
export function identityOf({ bytes, bodyAt, revisionAt }: CutObject): KubeObject['metadata'] {
  return JSON.parse(`{${bytes.toString('utf8', bodyAt, revisionAt)}}}`).metadata
}

/** The comma belongs to it: at least the name stands before. */
export const revisionText = (revision: number | string): string =>
  typeof revision === 'number'
    ? `,"resourceVersion":"${revision}"`
    : `,"resourceVersion":${inAscii(JSON.stringify(revision))}`

/** One byte a character, as what is laid in is written. */
const inAscii = (json: string): string =>
  json.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** How many bytes `writeCut` will write. */
export function cutLength(cut: CutObject, header: string, revision: string): number {
  return header.length + cut.bytes.length - cut.bodyAt + revision.length
}

/**
 * Writes the object into a larger buffer: a header (`{` for the items of built-in lists), the body
 * up to the revision, the revision, the rest. Answers the position after it.
 */
export function writeCut(
  target: Buffer,
  at: number,
  cut: CutObject,
  header: string,
  revision: string,
): number {
  let next = at + target.write(header, at, 'latin1')
  next += cut.bytes.copy(target, next, cut.bodyAt, cut.revisionAt)
  next += target.write(revision, next, 'latin1')
  next += cut.bytes.copy(target, next, cut.revisionAt)
  return next
}

/**
 * One object with its type header and what goes in at the cut, as a single answer or the object of
 * a watch event. `end`: what follows it.
 */
export function joinCut(cut: CutObject, header: string, laidIn: string, end = ''): Buffer {
  const length = cutLength(cut, header, laidIn)
  const out = Buffer.allocUnsafe(length + end.length)
  writeCut(out, 0, cut, header, laidIn)
  if (end !== '') out.write(end, length, 'latin1')
  return out
}
