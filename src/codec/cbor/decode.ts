/**
 * Decodes CBOR documents into JSON values. Byte strings and texts are strings. A duplicate key in a
 * map is always an error. Every failure is a CborError with the message of kube-apiserver's
 * library.
 */
import type { Json } from '#api/object-meta.ts'
import { field, mapOf, scalar, structOf } from '#schema/make-type.ts'
import type { Type } from '#schema/type.ts'
import { CborError, type Item, readItem } from './item.ts'
import { readTyped } from './typed.ts'
import { faultText, Findings } from './untyped.ts'

const anyMap = mapOf({ is: 'untyped' })

/** A map of values of any type, or null. */
export function decodeCborMap(bytes: Buffer): Json {
  const findings = new Findings()
  const value = readTyped(readItem(bytes), anyMap, findings)
  requireReadable(findings)
  return value
}

function requireReadable({ fault }: Findings): void {
  if (fault !== undefined) throw new CborError(faultText(fault))
}

const typeMeta = structOf('io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta', [
  field('kind', scalar('string'), 1, 'o'),
  field('apiVersion', scalar('string'), 2, 'o'),
])

export interface CborDocument {
  /** Empty if the document does not have it. */
  readonly apiVersion: string
  readonly kind: string
  readonly item: Item
}

/** Parses a document's type header; the rest is decoded when its type is known. */
export function openDocument(bytes: Buffer): CborDocument {
  const item = readItem(bytes)
  const findings = new Findings()
  const header = readTyped(item, typeMeta, findings) as Record<string, string | null> | null
  requireReadable(findings)
  return { item, apiVersion: header?.apiVersion ?? '', kind: header?.kind ?? '' }
}

export interface TypedReading {
  readonly value: Json
  /** The fault of strict decoding: the position of an unknown field. */
  readonly strictFaults: readonly string[]
}

/** Decodes a document as its type. */
export function readDocument({ item }: CborDocument, type: Type): TypedReading {
  const findings = new Findings()
  const value = readTyped(item, type, findings)
  requireReadable(findings)
  const { unknownAt } = findings
  const strictFaults =
    unknownAt === undefined ? [] : [`cbor: found unknown field at map element index ${unknownAt}`]
  return { value, strictFaults }
}
