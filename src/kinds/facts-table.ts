/**
 * The row types of the tables in facts/, and the only reader of these files. Each file is read
 * once, on first use. facts/README.md describes the columns.
 */

import type { Json } from '#api/object-meta.ts'
import { isWithin, type Span } from '#api/releases/change.ts'
import type { RulesTable } from './declarative/rules-table.ts'

/**
 * Returns the text of one table: `releases.json`, `core.v1.json`. It is injected, because `kinds`
 * does no I/O.
 */
export type ReadFacts = (fileName: string) => string

export interface ReleasesTable {
  /** Minor number → full version of the modules the facts were read from. */
  readonly releases: Readonly<Record<string, string>>
  /** Tables by name: core.v1 → io.k8s.api.core.v1. */
  readonly packages: Readonly<Record<string, PackageRow>>
  readonly groupVersions: readonly GroupVersionRow[]
  readonly resources: readonly ResourceRow[]
}

export interface PackageRow extends Span {
  readonly openApi: string
  readonly group?: string
  readonly version?: string
  /** The first release in which types of the package declare rules of validation. */
  readonly rulesSince?: number
}

export interface GroupVersionRow extends Span {
  readonly group: string
  readonly version: string
  readonly file: string
  readonly groupPriority?: number
  readonly versionPriority?: number
  readonly off?: boolean
}

export interface ResourceRow extends Span {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced?: boolean
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  /** 'apps/v1', '/v1' for the core group. */
  readonly storageVersion?: string
  readonly storagePrefix?: string
  readonly off?: boolean
  readonly on?: boolean
  readonly gate?: string
  readonly returnsDeleted?: boolean
  readonly lifecycle?: LifecycleRow
  readonly subresources?: readonly SubresourceRow[]
}

export interface LifecycleRow {
  readonly introduced?: string
  readonly deprecated?: string
  readonly removed?: string
  /** 'batch/v1/CronJob'. */
  readonly replacement?: string
}

export interface SubresourceRow {
  readonly name: string
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly verbs: readonly string[]
  readonly gate?: string
}

export interface TypesTable {
  readonly types: Readonly<Record<string, TypeRow>>
  /** A list where releases differ. */
  readonly names: Readonly<Record<string, NameRow | readonly NameRow[]>>
}

export interface TypeRow extends Span {
  readonly fields: readonly FieldRow[]
  readonly atomicSince?: number
  readonly granularSince?: number
  readonly discriminator?: string
  readonly union?: boolean
}

/** JSON name, type, protobuf number, flags, and rare options. */
export type FieldRow = readonly [string, string, number, string, FieldOptions?]

export interface FieldOptions extends Span {
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  readonly mapType?: 'atomic' | 'granular'
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  readonly gate?: string
  readonly default?: Json
}

export interface NameRow extends Span {
  readonly of: string
  readonly message?: boolean
  readonly alias?: boolean
  readonly enum?: boolean
  readonly values?: readonly string[]
}

export interface FactsTables {
  readonly releases: ReleasesTable
  types(file: string): TypesTable
  /** The declared rules of a package; undefined where the release has none. */
  rules(file: string, release: number): RulesTable | undefined
}

export const isIn = (span: Span | undefined, release: number): boolean =>
  span === undefined || isWithin(span, release)

/**
 * The row of a name in one release. A name with a single row is the same in every release that has
 * it.
 */
export const nameIn = (
  rows: NameRow | readonly NameRow[] | undefined,
  release: number,
): NameRow | undefined => [rows ?? []].flat().find((row) => isIn(row, release))

export function factsTables(readFacts: ReadFacts): FactsTables {
  let releases: ReleasesTable | undefined
  const tables = new Map<string, TypesTable>()
  const rules = new Map<string, RulesTable>()
  return {
    get releases() {
      releases ??= JSON.parse(readFacts('releases.json')) as ReleasesTable
      return releases
    },
    types(file) {
      let table = tables.get(file)
      if (table === undefined) {
        table = JSON.parse(readFacts(`${file}.json`)) as TypesTable
        tables.set(file, table)
      }
      return table
    },
    rules(file, release) {
      const since = this.releases.packages[file]?.rulesSince
      if (since === undefined || !isWithin({ since }, release)) return undefined
      let table = rules.get(file)
      if (table === undefined) {
        table = JSON.parse(readFacts(`rules.${file}.json`)) as RulesTable
        rules.set(file, table)
      }
      return table
    },
  }
}
