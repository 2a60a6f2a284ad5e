/** Stored bytes as an object: JSON, or the protobuf envelope another server wrote, told apart by the first bytes. */
import type { KubeObject } from '#api/object-meta.ts'
import { decodeJson } from '#codec/json.ts'
import { decodeMessage, openEnvelope } from '#codec/protobuf.ts'
import type { Catalog } from './catalog.ts'
import type { Kind } from './kind.ts'

/** `k8s` and a zero byte. */
const isEnvelope = (bytes: Buffer) =>
  bytes.length > 4 && bytes[0] === 0x6b && bytes[1] === 0x38 && bytes[2] === 0x73 && bytes[3] === 0

export function storedParser(catalog: Catalog): (bytes: Buffer) => KubeObject {
  return (bytes) => {
    if (!isEnvelope(bytes)) return decodeJson(bytes) as unknown as KubeObject
    const { apiVersion, kind, raw } = openEnvelope(bytes)
    const found = kindNamed(catalog, apiVersion, kind)
    if (found === undefined) throw new Error(`nothing is known of ${apiVersion} ${kind}`)
    return found.conform(decodeMessage(found.type, raw)).object
  }
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
