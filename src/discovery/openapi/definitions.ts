/** The definitions that operations refer to, and all definitions that these refer to. */
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import type { Kind } from '#kinds/kind.ts'
import { customListSchema, customSchema } from './custom-schema.ts'
import { describeField, describeKind } from './descriptions.ts'
import type { OpenApiOperation } from './operation.ts'
import type { SchemaForm } from './schema-form.ts'
import {
  definitionName,
  hasStandardV3,
  isCustom,
  type JsonObject,
  metaType,
  type OpenApiSource,
} from './source.ts'
import { declaredDefaults, leafSchema, structSchema } from './type-schema.ts'

/** Kinds that every group version has. */
const everywhere = ['DeleteOptions', 'WatchEvent']
/** Kinds of meta whose group version is core v1. */
const atHome = ['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status']

type Gvk = { group: string; kind: string; version: string }

export type Gvks = ReadonlyMap<string, Gvk[]>

const hasStatusOfResources = change('OpenAPI says that Status is also a kind of resource.k8s.io', {
  since: 26,
  until: 30,
})

/** Maps definitions to their groups, versions and kinds. */
export function groupVersionKinds(source: OpenApiSource): Gvks {
  const { facts, release } = source
  const found = new Map<string, Gvk[]>()
  // The scheme of kube-apiserver does not have the kinds of aggregated discovery.
  const known = facts
    .knownGroupVersionsOf(release)
    .filter(({ group }) => group !== 'apidiscovery.k8s.io')
  for (const { group, version } of known) {
    for (const [kind, name] of facts.kindsOf(group, version, release)) {
      found.set(name, [{ group, kind, version }])
    }
  }
  for (const kind of atHome) found.set(metaType(kind), [{ group: '', kind, version: 'v1' }])
  for (const kind of everywhere) {
    const rows = known.map(({ group, version }) => ({ group, kind, version }))
    found.set(metaType(kind), rows)
  }
  if (releaseOf(release).has(hasStatusOfResources)) {
    const registered = known.filter(({ group }) => group === 'resource.k8s.io')
    const rows = registered.map(({ group, version }) => ({ group, kind: 'Status', version }))
    found.get(metaType('Status'))?.push(...rows)
  }
  return found
}

const namesOneVersion = change(
  'an OpenAPI v3 document names only its own version as one of DeleteOptions and WatchEvent',
  { since: 36 },
)

/** The kinds as a built-in OpenAPI v3 document of one group version shows them. */
export function kindsInDocument(
  gvks: Gvks,
  release: Release,
  own: { readonly group: string; readonly version: string },
): Gvks {
  if (!release.has(namesOneVersion)) return gvks
  const isShown = ({ group, version }: Gvk) =>
    (group === '' && version === 'v1') || (group === own.group && version === own.version)
  const shown = new Map(gvks)
  for (const kind of everywhere) {
    const name = metaType(kind)
    shown.set(name, (gvks.get(name) ?? []).filter(isShown))
  }
  return shown
}

/**
 * The groups that the scheme of client-go does not have. kube-apiserver describes custom kinds by
 * that scheme.
 */
const unknownToClients = new Set([
  'admission.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'imagepolicy.k8s.io',
])

const customDocumentsNameKinds = change(
  'OpenAPI v3 documents of custom kinds name the kinds of meta types',
  { since: 27 },
)

/** The kinds as an OpenAPI v3 document of custom kinds shows them. */
export function kindsInCustomDocument(gvks: Gvks, release: Release): Gvks {
  if (!release.has(hasStandardV3)) return gvks
  if (!release.has(customDocumentsNameKinds)) return new Map()
  const shown = new Map<string, Gvk[]>()
  for (const [name, kinds] of gvks) {
    const known = kinds.filter(({ group }) => !unknownToClients.has(group))
    if (known.length > 0) shown.set(name, known)
  }
  return shown
}

/** The names of definitions that operations refer to directly. */
export function namesIn(operations: Iterable<OpenApiOperation>): Set<string> {
  const names = new Set<string>()
  for (const { body, answer } of operations) {
    if (body !== undefined) names.add(body.type)
    if (answer !== undefined && answer !== 'string') names.add(answer)
  }
  return names
}

/**
 * The named definitions and everything they refer to, sorted by name. `kinds` are custom kinds
 * whose own definitions can be among them.
 */
export function definitionsFor(
  names: Iterable<string>,
  kinds: Iterable<Kind>,
  source: OpenApiSource,
  gvks: Gvks,
  form: SchemaForm,
): JsonObject {
  const made = [...eachDefinition(names, kinds, source, gvks, form)]
  return Object.fromEntries(made.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Like definitionsFor, but yields unsorted definitions one by one. */
export function* eachDefinition(
  names: Iterable<string>,
  kinds: Iterable<Kind>,
  source: OpenApiSource,
  gvks: Gvks,
  form: SchemaForm,
): Iterable<[name: string, definition: JsonObject]> {
  const known = new Set<string>()
  const wanted: string[] = []
  const needs = (name: string): void => {
    if (known.has(name)) return
    known.add(name)
    wanted.push(name)
  }
  const custom = new Map<string, () => JsonObject>()
  for (const kind of kinds) {
    if (!isCustom(source, kind)) continue
    for (const [name, make] of ownDefinitions(kind, source, form)) custom.set(name, make)
  }
  for (const name of names) needs(name)
  if (custom.size > 0) for (const name of neededByOwn) needs(name)
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    const own = custom.get(name)
    yield [name, own?.() ?? builtInDefinition(name, source, gvks, form, needs)]
  }
}

/** Definitions that every custom kind refers to. */
export const neededByOwn: readonly string[] = [metaType('ObjectMeta'), metaType('ListMeta')]

/** The definitions of a custom kind and its list, by name. */
export const ownDefinitions = (
  kind: Kind,
  source: OpenApiSource,
  form: SchemaForm,
): [name: string, make: () => JsonObject][] => {
  const [object, list] = ownNames(source, kind)
  return [
    [object, () => customSchema(kind, source.schemaOf(kind), form)],
    [list, () => customListSchema(kind, object, form, releaseOf(source.release))],
  ]
}

/** The definition names of a custom kind and its list. */
export const ownNames = (
  source: OpenApiSource,
  { group, version, kind, listKind }: Pick<Kind, 'group' | 'version' | 'kind' | 'listKind'>,
): [object: string, list: string] => [
  definitionName(source, group, version, kind),
  definitionName(source, group, version, listKind),
]

function builtInDefinition(
  name: string,
  source: OpenApiSource,
  gvks: Gvks,
  form: SchemaForm,
  needs: (name: string) => void,
): JsonObject {
  const leaf = leafSchema(name, form)
  if (leaf !== undefined) return leaf
  const kinds = gvks.get(name)
  const kind = name.slice(name.lastIndexOf('.') + 1)
  const describe = (field: string) => describeField(kind, field, kinds !== undefined)
  const { enums = false } = source
  const type = source.facts.typeOf(name, source.release)
  const defaults = form.version === 3 ? declaredDefaults(releaseOf(source.release)) : undefined
  const context = { form, needs, describe, enums }
  const schema = structSchema(type, defaults === undefined ? context : { ...context, defaults })
  const description = describeKind(kind, kinds !== undefined)
  return {
    ...(description === undefined ? undefined : { description }),
    ...schema,
    ...(kinds === undefined ? undefined : { 'x-kubernetes-group-version-kind': kinds }),
  }
}
