/**
 * The annotation with the last configuration of client-side apply. Server-side apply by kubectl
 * takes over its fields without a conflict. The annotation is updated, so that client-side apply
 * can be used again.
 */
import type { Json, KubeObject } from '#api/object-meta.ts'
import { isMap, type JsonMap } from '#patch/json-map.ts'
import { compareObjects } from './compare.ts'
import { difference, type FieldSet } from './field-set.ts'
import type { Typed } from './ownership.ts'
import { goJson } from './path-element.ts'
import { toFieldSet } from './to-field-set.ts'
import { typeProblems } from './validate.ts'

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'
/** Only this manager takes over from client-side apply; clients with another name do not. */
export const clientSideManager = 'kubectl'
/** The limit of all annotations of an object together, names and values. */
const annotationsBytesMax = 256 * 1024

/**
 * The fields that the annotation of the live object names, if they still have its values; undefined
 * without the annotation.
 */
export function ownedByClientSideApply(live: Typed): FieldSet | undefined {
  const text = live.object.metadata.annotations?.[lastAppliedAnnotation]
  if (text === undefined || text === '') return undefined
  const last = parse(text)
  if (last === undefined || last.apiVersion !== live.apiVersion) return undefined
  if (typeProblems(live.type, last) !== undefined) return undefined
  const { added, modified, removed } = compareObjects(live.type, last, live.object as Json)
  return [modified, added, removed].reduce(difference, toFieldSet(live.type, last))
}

function parse(text: string): JsonMap | undefined {
  try {
    const value = JSON.parse(text) as Json
    return isMap(value) && typeof value.kind === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** If the object has the annotation, updates it with the applied configuration. */
export function withLastApplied(object: KubeObject, config: KubeObject): KubeObject {
  const annotations = object.metadata?.annotations
  if (!annotations?.[lastAppliedAnnotation]) return object
  const next = { ...annotations, [lastAppliedAnnotation]: lastAppliedText(config) }
  if (sizeOf(next) > annotationsBytesMax)
    delete (next as Record<string, string>)[lastAppliedAnnotation]
  return { ...object, metadata: { ...object.metadata, annotations: next } }
}

function lastAppliedText(config: KubeObject): string {
  const annotations = config.metadata?.annotations
  if (!isMap(annotations)) return `${goJson(config as Json)}\n`
  const { [lastAppliedAnnotation]: _, ...others } = annotations
  return `${goJson({ ...config, metadata: { ...config.metadata, annotations: others } } as unknown as Json)}\n`
}

function sizeOf(annotations: Record<string, string>): number {
  let bytes = 0
  for (const name in annotations) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(annotations[name] as string)
  }
  return bytes
}
