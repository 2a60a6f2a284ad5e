/**
 * The definitions a set of operations needs, and all that those need.
 */
import type { Kind } from '#kinds/kind.ts'
import { customListSchema, customSchema } from './custom-schema.ts'
import { describeField, describeKind } from './descriptions.ts'
import { customDefinitionName } from './names.ts'
import type { Operation } from './operation.ts'
import type { SchemaForm } from './schema-form.ts'
import { isCustom, type JsonObject, metaType, type OpenApiSource } from './source.ts'
import { leafSchema, structSchema } from './type-schema.ts'

/** Kinds every group version has. */
const everywhere = ['DeleteOptions', 'WatchEvent']
/** Kinds of meta that belong to the core version. */
const atHome = ['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status']

export type Gvks = ReadonlyMap<string, { group: string; kind: string; version: string }[]>

/** Which group, version and kind each definition stands for. */
export function groupVersionKinds(source: OpenApiSource): Gvks {
  const { facts, release } = source
  const found = new Map<string, { group: string; kind: string; version: string }[]>()
  const known = facts.knownGroupVersionsOf(release)
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
  return found
}

/** Definitions by name, in order. */
export function definitionsFor(
  operations: readonly Operation[],
  source: OpenApiSource,
  gvks: Gvks,
  form: SchemaForm,
): JsonObject {
  const made = new Map<string, JsonObject>()
  const wanted: string[] = []
  const needs = (name: string): void => {
    if (made.has(name)) return
    made.set(name, {})
    wanted.push(name)
  }
  const custom = customDefinitions(source)
  for (const { body, answer } of operations) {
    if (body !== undefined) needs(body.type)
    if (answer !== undefined && answer !== 'string') needs(answer)
  }
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    const one = custom.get(name)
    if (one === undefined) {
      made.set(name, builtInDefinition(name, source, gvks, form, needs))
      continue
    }
    needs(metaType(one.list ? 'ListMeta' : 'ObjectMeta'))
    if (one.list) needs(customDefinitionName(one.kind.group, one.kind.version, one.kind.kind))
    made.set(
      name,
      one.list
        ? customListSchema(one.kind, form)
        : customSchema(one.kind, source.schemaOf(one.kind), form),
    )
  }
  return Object.fromEntries([...made].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function customDefinitions(source: OpenApiSource): Map<string, { kind: Kind; list: boolean }> {
  const found = new Map<string, { kind: Kind; list: boolean }>()
  for (const kind of source.kinds) {
    if (!isCustom(source, kind)) continue
    const { group, version } = kind
    found.set(customDefinitionName(group, version, kind.kind), { kind, list: false })
    found.set(customDefinitionName(group, version, kind.listKind), { kind, list: true })
  }
  return found
}

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
  const schema = structSchema(source.facts.typeOf(name, source.release), { form, needs, describe })
  const description = describeKind(kind, kinds !== undefined)
  return {
    ...(description === undefined ? undefined : { description }),
    ...schema,
    ...(kinds === undefined ? undefined : { 'x-kubernetes-group-version-kind': kinds }),
  }
}
