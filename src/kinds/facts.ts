/**
 * The built-in API as data, for any emulated release: which group versions and resources there are,
 * how they are stored, and the types of their objects. Nothing is read before it is needed; what is
 * read is kept.
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
  /** Minor numbers of the releases the tables know, oldest first: 15 … 37. */
  readonly releases: readonly number[]
  /** '1.22.17' for 22. */
  versionOf(release: number): string
  groupVersionsOf(release: number): readonly GroupVersionFact[]
  /** Every group version types are known of, served or not, ordered by group and version. */
  knownGroupVersionsOf(release: number): { group: string; version: string }[]
  /**
   * Every resource of a release, those off by default too, ordered by group, version and plural.
   */
  resourcesOf(release: number): readonly ResourceFact[]
  /** The newest form of a resource that is stored under this prefix, in any release. */
  newestStoredAt(prefix: string, group: string, version: string): ResourceFact | undefined
  /** The type of an OpenAPI name, e.g. `io.k8s.api.core.v1.Pod`. */
  typeOf(openApiName: string, release: number): Struct
  isType(openApiName: string, release: number): boolean
  /**
   * The table with the types of a group version, and what they declare of validation in a release.
   */
  fileOf(group: string, version: string): string | undefined
  rulesOf(file: string, release: number): RulesTable | undefined
  /** The OpenAPI name of a kind, or undefined where the group version is not of the tables. */
  openApiNameOf(group: string, version: string, kind: string): string | undefined
  /**
   * Every kind a group version declares a type for (lists and options too), by its OpenAPI name.
   */
  kindsOf(group: string, version: string, release: number): ReadonlyMap<string, string>
}

export interface GroupVersionFact {
  readonly group: string
  readonly version: string
  /** Order of groups in /apis and of versions in a group: the higher, the earlier. */
  readonly groupPriority: number
  readonly versionPriority: number
  /** Served only when turned on. */
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
  /** Where and in which version objects are kept; absent for what is never stored. */
  readonly storage?: StorageFact
  /** First and last release that has it, of those the tables know. */
  readonly since: number
  readonly until: number
  /** The resource, or its whole group version, is served only when turned on. */
  readonly off: boolean
  /** Served only where this feature gate is on. */
  readonly gate?: string
  readonly alpha: boolean
  /** A deletion is answered with the object, not with a status. */
  readonly returnsDeleted: boolean
  readonly lifecycle?: LifecycleFact
}

export interface StorageFact {
  readonly group: string
  readonly version: string
  /** Below the root, without slashes at its ends: 'services/specs'. */
  readonly prefix: string
}

/** Releases as '1.22'; empty where nothing is planned. */
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
  /** Discovery shows group and version of its kind. */
  readonly showsGroupVersion: boolean
  /** Served only where this feature gate is on. */
  readonly gate?: string
}

/** The files of types, by group version and by the name of their package. */
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

/** Group versions and resources of each release, made on first use. */
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

/** The kinds of one file with the OpenAPI names of their types. */
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
