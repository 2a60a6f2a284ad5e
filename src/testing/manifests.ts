/**
 * Reads the objects in the YAML and JSON files of a folder, in an order that the server accepts.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KubeObject } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'

const loadYaml = loadLater<typeof import('yaml')>(import.meta.url, 'yaml')

/** Kinds on which others depend, in order. Other kinds follow, in the order of the files. */
const firstKinds = [
  'CustomResourceDefinition',
  'Namespace',
  'ServiceAccount',
  'ClusterRole',
  'Role',
]

const placeOf = ({ kind = '' }: KubeObject) => {
  const place = firstKinds.indexOf(kind)
  return place < 0 ? firstKinds.length : place
}

export function readManifests(directory: string): KubeObject[] {
  const files = readdirSync(directory, { recursive: true })
    .map(String)
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
  const objects = files.flatMap((name) => objectsIn(join(directory, name)))
  return objects.sort((a, b) => placeOf(a) - placeOf(b))
}

function objectsIn(path: string): KubeObject[] {
  const documents = loadYaml().parseAllDocuments(readFileSync(path, 'utf8'))
  return [...documents].flatMap((document) => {
    const [problem] = document.errors
    if (problem !== undefined) throw new Error(`${path}: ${problem.message}`)
    const value = document.toJS() as (KubeObject & { items?: KubeObject[] }) | null
    if (value === null) return []
    return value.kind === 'List' ? (value.items ?? []) : [value]
  })
}
