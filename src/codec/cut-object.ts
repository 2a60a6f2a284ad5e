/**
 * An object as JSON bytes, cut where they vary. The type header at the start is absent in items of
 * built-in lists and differs between versions. The value of metadata.resourceVersion is known only
 * after the write. The encoder records both positions, so nothing searches for them.
 *
 *   {"kind":"Pod","apiVersion":"v1",  "metadata":{"name":"a","uid":"…"  ,"generation":1},"spec":…}
 *                                   ^bodyAt                            ^revisionAt
 */
import { ownBytes } from '#base/own-bytes.ts'
import type { KubeObject } from '#api/object-meta.ts'

export interface CutObject {
  /** The stored form, which includes the type header and excludes the resourceVersion. */
  readonly bytes: Buffer
  readonly bodyAt: number
  readonly revisionAt: number
}

/** The fields before resourceVersion in Go's order of ObjectMeta. */
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
  // An object written directly into the store may lack all head fields. The inserted text begins
  // with a comma, so it needs one.
  return comma === '' ? `${head}"name":""` : head
}

/** Encodes an object once, for the store, the response, the cache, lists and watches. */
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
 * Other servers end their JSON with a line break; this one does not. An object without a uid was
 * written by hand.
 */
export const isOthersJson = (bytes: Buffer, object: KubeObject): boolean =>
  bytes[bytes.length - 1] === 0x0a || object.metadata?.uid === undefined

/**
 * Finds the cut positions in stored bytes and their parsed object. Bytes in another field order are
 * encoded again.
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

/** Parses only name, namespace and uid, which precede the cut. */
export function identityOf({ bytes, bodyAt, revisionAt }: CutObject): KubeObject['metadata'] {
  return JSON.parse(`{${bytes.toString('utf8', bodyAt, revisionAt)}}}`).metadata
}

/** Begins with a comma, because at least the name precedes it. */
export const revisionText = (revision: number | string): string =>
  typeof revision === 'number'
    ? `,"resourceVersion":"${revision}"`
    : `,"resourceVersion":${inAscii(JSON.stringify(revision))}`

/** Inserted text is written as latin1, so other characters are escaped. */
const inAscii = (json: string): string =>
  json.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The number of bytes that `writeCut` writes. */
export function cutLength(cut: CutObject, header: string, revision: string): number {
  return header.length + cut.bytes.length - cut.bodyAt + revision.length
}

/**
 * Writes the object into a larger buffer: the header (`{` for items of built-in lists), the body up
 * to the revision, the revision, the rest. Returns the end position.
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
 * Joins the object with its type header and the inserted text, for a single response or a watch
 * event. `end` is appended.
 */
export function joinCut(cut: CutObject, header: string, insertedText: string, end = ''): Buffer {
  const length = cutLength(cut, header, insertedText)
  const out = Buffer.allocUnsafe(length + end.length)
  writeCut(out, 0, cut, header, insertedText)
  if (end !== '') out.write(end, length, 'latin1')
  return out
}
