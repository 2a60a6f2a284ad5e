/**
 * The custom kind that the fuzzers use: gears of a group of its own, so that many can exist at
 * once. Each fuzzer defines its versions.
 */
// biome-ignore lint/suspicious/noExplicitAny: definitions are JSON of any shape
type Any = any

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Namespaced, with every name specified, unless `more` overrides it. */
export function gearDefinition(group: string, versions: readonly Any[], more: Any = {}): Any {
  const names = { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gears.${group}` },
    spec: { group, scope: 'Namespaced', names, versions, ...more },
  }
}

/** A served version; the first of several is the stored one. */
export const gearVersion = (name: string, schema: Any, storage: boolean, more: Any = {}): Any => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: schema },
  ...more,
})
