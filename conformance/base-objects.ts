/**
 * Objects to hold conversations about: those of the recordings, and those of manifests in a folder.
 * `{id}` stands for the part that belongs to one conversation: its namespace, and the prefix of the
 * names of cluster-scoped objects.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parseAllDocuments } from 'yaml'
import type { Json } from '#api/object-meta.ts'
import type { Step } from './two-servers.ts'

export type Body = { [key: string]: Json }

/** Where a server has a kind: `/apis/apps/v1`, `deployments`. */
export interface Place {
  readonly at: string
  readonly plural: string
  readonly namespaced: boolean
}
export type Places = ReadonlyMap<string, Place>

export interface Base extends Place {
  readonly object: Body
}

/** The objects created in recorded conversations; nothing where there are no recordings. */
export function recordedObjects(golden: string): Body[] {
  const found: Body[] = []
  if (!existsSync(golden)) return found
  for (const file of readdirSync(golden).filter((name) => /\.jsonl(\.gz)?$/.test(name))) {
    const bytes = readFileSync(join(golden, file))
    const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
    for (const line of text.split('\n').filter(Boolean)) {
      const { family, steps } = JSON.parse(line) as { family: string; steps: Step[] }
      if (!['life', 'changed', 'converted'].includes(family)) continue
      const made = steps.find(({ method }) => method === 'POST')?.body
      if (isObject(made)) found.push(made)
    }
  }
  return found
}

/** Every object of every YAML or JSON file below a folder that can be read as one. */
export function objectsIn(folder: string): Body[] {
  const found: Body[] = []
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(ya?ml|json)$/.test(entry.name)) continue
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8')
    for (const document of parseAllDocuments(text, { logLevel: 'silent' })) {
      if (document.errors.length > 0) continue
      const value = document.toJS() as Json
      const items = isObject(value) && Array.isArray(value.items) ? value.items : [value]
      found.push(...items.filter(isObject))
    }
  }
  return found
}

/** Those that the server has a place for, each once, with names that conversations can own. */
export function basesOf(objects: readonly Body[], places: Places): Base[] {
  const bases = new Map<string, Base>()
  for (const object of objects) {
    const place = places.get(`${object.apiVersion} ${object.kind}`)
    const metadata = object.metadata
    if (place === undefined || !isMap(metadata) || typeof metadata.name !== 'string') continue
    const { namespace: _, resourceVersion: __, ...meta } = metadata
    if (!place.namespaced && !metadata.name.includes('{id}')) meta.name = `{id}-${metadata.name}`
    const own = { ...object, metadata: meta }
    bases.set(JSON.stringify(own), { ...place, object: own })
  }
  return [...bases.values()]
}

export const isMap = (value: Json | undefined): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isObject = (value: unknown): value is Body =>
  isMap(value as Json) &&
  typeof (value as Body).apiVersion === 'string' &&
  typeof (value as Body).kind === 'string'
