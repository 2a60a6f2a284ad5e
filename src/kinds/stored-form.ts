/**
 * Decodes stored bytes: JSON, or the protobuf envelope of another server; the first bytes
 * distinguish them. Another server may run any release. Its objects are decoded by their own type
 * and get the defaults of their version.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { isOthersJson } from '#codec/cut-object.ts'
import { decodeJson } from '#codec/json.ts'
import { decodeMessage, openEnvelope } from '#codec/protobuf.ts'
import { asUnreadable, requireOpened } from '#storage/storage.ts'
import type { Catalog } from './catalog.ts'
import type { Kind } from './kind.ts'

/** `k8s` and a zero byte. */
const isEnvelope = (bytes: Buffer) =>
  bytes.length > 4 && bytes[0] === 0x6b && bytes[1] === 0x38 && bytes[2] === 0x73 && bytes[3] === 0

/** Throws `Unreadable` where the bytes are no object. */
export function storedParser(catalog: Catalog): (bytes: Buffer) => KubeObject {
  const parse = parser(catalog)
  return (bytes) => {
    requireOpened(bytes)
    try {
      return parse(bytes)
    } catch (error) {
      throw asUnreadable(error)
    }
  }
}

function parser(catalog: Catalog): (bytes: Buffer) => KubeObject {
  return (bytes) => {
    if (!isEnvelope(bytes)) {
      const object = decodeJson(bytes) as unknown as KubeObject
      if (typeof object?.kind !== 'string') throw new Error("Object 'Kind' is missing")
      if (!isOthersJson(bytes, object)) return object
      const known = kindNamed(catalog, object.apiVersion as string, object.kind as string)
      return known?.decoding === 'typed' ? readAs(known, object) : object
    }
    const { apiVersion, kind, raw } = openEnvelope(bytes)
    const found = kindNamed(catalog, apiVersion, kind)
    if (found === undefined) throw new Error(`nothing is known of ${apiVersion} ${kind}`)
    return readAs(found, decodeMessage(found.type, raw))
  }
}

function readAs(kind: Kind, written: Loose): KubeObject {
  const { object } = kind.conform(written)
  kind.applyDefaults(object)
  return object
}

function kindNamed(catalog: Catalog, apiVersion: string, kind: string): Kind | undefined {
  const served = catalog.byKind(apiVersion, kind)
  if (served !== undefined) return served
  for (const resource of catalog.resources()) {
    if (resource.hub.kind !== kind) continue
    const known = resource.kindOf(apiVersion)
    if (known !== undefined) return known
  }
  return undefined
}
