/** What is wrong with the metadata an embedded default has. */
import type { Json } from '#api/object-meta.ts'

const texts = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'clusterName',
]
const maps = ['labels', 'annotations']
const lists = ['ownerReferences', 'finalizers', 'managedFields']
const numbers = ['generation', 'deletionGracePeriodSeconds']

const isMap = (value: Json): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undefined where every field has the type metadata gives it. */
export function metaProblem(metadata: Json): string | undefined {
  if (metadata === null) return undefined
  if (!isMap(metadata)) return 'json: cannot unmarshal into Go value of type v1.ObjectMeta'
  for (const [name, value] of Object.entries(metadata)) {
    if (value === null || fits(name, value)) continue
    return `json: cannot unmarshal ${goName(value)} into Go struct field ObjectMeta.${name}`
  }
  return undefined
}

function fits(name: string, value: Json): boolean {
  if (texts.includes(name) || name.endsWith('Timestamp')) return typeof value === 'string'
  if (maps.includes(name))
    return isMap(value) && Object.values(value).every((one) => typeof one === 'string')
  if (lists.includes(name)) return Array.isArray(value)
  return !numbers.includes(name) || Number.isInteger(value)
}

const goName = (value: Json): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
