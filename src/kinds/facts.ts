/**
 * The built-in API as data, for any emulated release: its group versions and resources, their
 * storage locations, and their types. Each table is read on first use and then cached.
 */
import { assert } from '#base/assert.ts'
import type { Struct } from '#schema/type.ts'
import type { RulesTable } from './declarative/rules-table.ts'
import type { GroupVersionRow, ReadFacts, ResourceRow } from './facts-table.ts'
import { type FactsTables, factsTables, isIn } from './facts-table.ts'
import type { TypeGraph } from './facts-type-graph.ts'
import { typeGraph } from './facts-type-graph.ts'

export type { ReadFacts } from './facts-table.ts'

export interface Facts {
  /** Minor versions of the releases in the tables, oldest first: 15 … 37. */
  readonly releases: readonly number[]
  /** '1.22.17' for 22. */
  versionOf(release: number): string
  groupVersionsOf(release: number): readonly GroupVersionFact[]
  /** Every group version that has types, served or not, ordered by group and version. */
  knownGroupVersionsOf(release: number): { group: string; version: string }[]
  /**
   * Every resource of a release, including those that are off by default, ordered by group, version
   * and plural.
   */
  resourcesOf(release: number): readonly ResourceFact[]
  /** The newest form, in any release, of a resource that is stored under this prefix. */
  newestStoredAt(prefix: string, group: string, version: string): ResourceFact | undefined
  /** The type of an OpenAPI name, e.g. `io.k8s.api.core.v1.Pod`. */
  typeOf(openApiName: string, release: number): Struct
  isType(openApiName: string, release: number): boolean
  /**
   * The name of the table that has the types and declarative validation rules of a group version.
   */
  fileOf(group: string, version: string): string | undefined
  rulesOf(file: string, release: number): RulesTable | undefined
  /** The OpenAPI name of a kind. Undefined if the tables do not have the group version. */
  openApiNameOf(group: string, version: string, kind: string): string | undefined
  /**
   * Every kind for which a group version declares a type, including lists and options, with its
   * OpenAPI name.
   */
  kindsOf(group: string, version: string, release: number): ReadonlyMap<string, string>
}

export interface GroupVersionFact {
  readonly group: string
  readonly version: string
  /**
   * Position of the group in /apis and of the version in its group. Higher values are listed first.
   */
  readonly groupPriority: number
  readonly versionPriority: number
  /** Not served by default: `--runtime-config` must enable it. */
  readonly off: boolean
}

export interface ResourceFact {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly namespaced: boolean
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** Sorted, as discovery shows them. */
  readonly verbs: readonly string[]
  readonly subresources: readonly SubresourceFact[]
  /** Storage prefix and storage version. Absent for resources that are not stored. */
  readonly storage?: StorageFact
  /** The first and last release in the tables that has the resource. */
  readonly since: number
  readonly until: number
  /** The resource or its whole group version is not served by default. */
  readonly off: boolean
  /** Served only if this feature gate is enabled. */
  readonly gate?: string
  readonly alpha: boolean
  /** DELETE returns the deleted object instead of a Status. */
  readonly returnsDeleted: boolean
  readonly lifecycle?: LifecycleFact
}

export interface StorageFact {
  readonly group: string
  readonly version: string
  /** Relative to the root, without leading and trailing slash: 'services/specs'. */
  readonly prefix: string
}

/** Releases such as '1.22'. An empty string means that no release is planned. */
export interface LifecycleFact {
  readonly introduced: string
  readonly deprecated: string
  readonly removed: string
  readonly replacement?: { readonly group: string; readonly version: string; readonly kind: string }
}

export interface SubresourceFact {
  readonly name: string
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly string[]
  readonly namespaced: boolean
  /** Whether discovery shows the group and version of the subresource's kind. */
  readonly showsGroupVersion: boolean
  /** Served only if this feature gate is enabled. */
  readonly gate?: string
}

/** Maps group versions and Go package names to table files. */
function filesByPackage(tables: FactsTables) {
  let packages: Map<string, string> | undefined
  let files: Map<string, string> | undefined

  function fileOf(group: string, version: string): string | undefined {
    files ??= new Map(
      Object.entries(tables.releases.packages).map(([file, one]) => [
        `${one.group}/${one.version}`,
        file,
      ]),
    )
    return files.get(`${group}/${version}`)
  }

  function fileOfPackage(name: string): string | undefined {
    packages ??= new Map(
      Object.entries(tables.releases.packages).map(([file, { openApi }]) => [openApi, file]),
    )
    return packages.get(name)
  }

  return { fileOf, fileOfPackage }
}

/** Group versions and resources of each release, computed on first use. */
function servedFacts(tables: FactsTables, releases: () => number[]) {
  const resources = new Map<number, readonly ResourceFact[]>()
  const versions = new Map<number, readonly GroupVersionFact[]>()

  function groupVersionsOf(release: number): readonly GroupVersionFact[] {
    let known = versions.get(release)
    if (known === undefined) {
      known = tables.releases.groupVersions
        .filter((row) => isIn(row, release))
        .map(groupVersionFact)
      versions.set(release, known)
    }
    return known
  }

  function resourcesOf(release: number): readonly ResourceFact[] {
    let known = resources.get(release)
    if (known === undefined) {
      const [oldest, newest] = [releases()[0], releases().at(-1)!]
      assert(release >= oldest && release <= newest, `facts: no release 1.${release}`)
      const off = new Set(
        groupVersionsOf(release)
          .filter((one) => one.off)
          .map((one) => `${one.group}/${one.version}`),
      )
      known = tables.releases.resources
        .filter((row) => isIn(row, release))
        .map((row) => resourceFact(row, off, oldest, newest))
      resources.set(release, known)
    }
    return known
  }

  return { groupVersionsOf, resourcesOf }
}

/** The kinds in one table file, with the OpenAPI names of their types. */
function kindsIn(tables: FactsTables, file: string, release: number): Map<string, string> {
  const kinds = new Map<string, string>()
  for (const [name, row] of Object.entries(tables.types(file).types)) {
    const isKind = row.fields.some(
      ([, type, , flags]) => flags.includes('i') && type.endsWith('TypeMeta'),
    )
    if (isKind && isIn(row, release))
      kinds.set(name, `${tables.releases.packages[file].openApi}.${name}`)
  }
  return kinds
}

export function loadFacts(readFacts: ReadFacts): Facts {
  const tables = factsTables(readFacts)
  const graphs = new Map<number, TypeGraph>()
  const { fileOf, fileOfPackage } = filesByPackage(tables)
  const releases = () =>
    Object.keys(tables.releases.releases)
      .map(Number)
      .sort((a, b) => a - b)

  const { groupVersionsOf, resourcesOf } = servedFacts(tables, releases)

  function graphOf(release: number): TypeGraph {
    const graph = graphs.get(release) ?? typeGraph(tables, release)
    graphs.set(release, graph)
    return graph
  }

  function structOf(openApiName: string, release: number): Struct | undefined {
    const dot = openApiName.lastIndexOf('.')
    const file = fileOfPackage(openApiName.slice(0, dot))
    return file === undefined
      ? undefined
      : graphOf(release).struct(file, openApiName.slice(dot + 1))
  }

  return {
    get releases() {
      return releases()
    },
    versionOf: (release) => tables.releases.releases[release],
    groupVersionsOf,
    knownGroupVersionsOf: (release) =>
      Object.values(tables.releases.packages)
        .filter((row) => row.group !== undefined && isIn(row, release))
        .map(({ group = '', version = '' }) => ({ group, version }))
        .sort((a, b) => compare(a.group, b.group) || compare(a.version, b.version)),
    resourcesOf,
    newestStoredAt(prefix, group, version) {
      const rows = tables.releases.resources.filter(
        (row) => row.group === group && row.version === version && row.storagePrefix === prefix,
      )
      const newest = releases().at(-1)!
      const ends = rows.map((row) => row.until ?? newest)
      const last = Math.max(...ends)
      const row = rows[ends.indexOf(last)]
      return (
        row &&
        resourcesOf(last).find(
          (fact) => fact.plural === row.plural && fact.group === group && fact.version === version,
        )
      )
    },
    fileOf,
    rulesOf: (file, release) => tables.rules(file, release),
    isType: (openApiName, release) => structOf(openApiName, release) !== undefined,
    typeOf(openApiName, release) {
      const found = structOf(openApiName, release)
      assert(found, `facts: release 1.${release} has no type ${openApiName}`)
      return found
    },
    openApiNameOf(group, version, kind) {
      const file = fileOf(group, version)
      return file === undefined ? undefined : `${tables.releases.packages[file].openApi}.${kind}`
    },
    kindsOf(group, version, release) {
      const file = fileOf(group, version)
      return file === undefined ? new Map() : kindsIn(tables, file, release)
    },
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const groupVersionFact = (row: GroupVersionRow): GroupVersionFact => ({
  group: row.group,
  version: row.version,
  groupPriority: row.groupPriority ?? Number.MAX_SAFE_INTEGER,
  versionPriority: row.versionPriority ?? 0,
  off: row.off ?? false,
})

function resourceFact(
  row: ResourceRow,
  off: ReadonlySet<string>,
  oldest: number,
  newest: number,
): ResourceFact {
  const namespaced = row.namespaced ?? false
  return {
    group: row.group,
    version: row.version,
    plural: row.plural,
    singular: row.kind.toLowerCase(),
    kind: row.kind,
    listKind: `${row.kind}List`,
    namespaced,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    verbs: row.verbs,
    subresources: (row.subresources ?? []).map((sub) => ({
      name: sub.name,
      group: sub.group ?? row.group,
      version: sub.version ?? row.version,
      kind: sub.kind,
      verbs: sub.verbs,
      namespaced,
      showsGroupVersion: sub.version !== undefined,
      ...(sub.gate !== undefined ? { gate: sub.gate } : undefined),
    })),
    ...storageOf(row),
    since: row.since ?? oldest,
    until: row.until ?? newest,
    off: row.on !== true && (row.off === true || off.has(`${row.group}/${row.version}`)),
    ...(row.gate !== undefined ? { gate: row.gate } : undefined),
    alpha: row.version.includes('alpha'),
    returnsDeleted: row.returnsDeleted ?? false,
    ...lifecycleOf(row),
  }
}

function storageOf(row: ResourceRow): { storage?: StorageFact } {
  if (row.storageVersion === undefined || row.storagePrefix === undefined) return {}
  const [group, version] = row.storageVersion.split('/')
  return { storage: { group, version, prefix: row.storagePrefix } }
}

function lifecycleOf({ lifecycle }: ResourceRow): { lifecycle?: LifecycleFact } {
  if (lifecycle === undefined) return {}
  const { introduced = '', deprecated = '', removed = '' } = lifecycle
  if (lifecycle.replacement === undefined) return { lifecycle: { introduced, deprecated, removed } }
  const [group, version, kind] = lifecycle.replacement.split('/')
  return { lifecycle: { introduced, deprecated, removed, replacement: { group, version, kind } } }
}
