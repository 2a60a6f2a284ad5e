/** The inputs of an OpenAPI document. */
import type { Json } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Facts } from '#kinds/facts.ts'
import type { Kind } from '#kinds/kind.ts'
import { customDefinitionName } from './names.ts'

export type JsonObject = { [key: string]: Json }

export interface OpenApiSource {
  readonly facts: Facts
  /** Minor number of the emulated release. */
  readonly release: number
  /** All served kinds. */
  readonly kinds: readonly Kind[]
  /** The named groups, each with its versions, in discovery order. */
  readonly groups: ReadonlyMap<string, readonly string[]>
  /** Whether server-side apply is enabled. */
  readonly applies: boolean
  /** Whether enum fields list their values. */
  readonly enums?: boolean
  /** Whether the feature gate for CBOR is on. */
  readonly servesCbor?: boolean
  /** The schema of a custom kind in OpenAPI v3 form. Undefined without a structural schema. */
  readonly schemaOf: (kind: Kind) => JsonObject | undefined
}

/**
 * The name of the definition of a built-in or custom kind. A custom kind never gets the name of a
 * built-in type.
 */
export function definitionName(
  source: OpenApiSource,
  group: string,
  version: string,
  kind: string,
): string {
  const { facts, release } = source
  const known = facts.openApiNameOf(group, version, kind)
  if (known !== undefined) return known
  const name = customDefinitionName(group, version, kind)
  return facts.isType(name, release) ? `${name}_v2` : name
}

/** Whether the tables contain the group version. All other group versions are custom. */
export const isOfTables = (source: OpenApiSource, group: string, version: string): boolean =>
  source.facts.openApiNameOf(group, version, '') !== undefined

export const isCustom = (source: OpenApiSource, kind: Pick<Kind, 'group' | 'version'>): boolean =>
  !isOfTables(source, kind.group, kind.version)

export const metaType = (name: string): string => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`

/** Older releases of kube-apiserver serve no OpenAPI v3, so that form is of this server alone. */
export const hasStandardV3 = change(
  'OpenAPI v3 documents have the title, components and kinds of kube-apiserver',
  { since: 24 },
)

const namesMinor = change('OpenAPI documents name the release without its patch', { since: 31 })

/** The title and the version of every document. */
export function documentInfo({ facts, release: minor }: OpenApiSource): JsonObject {
  const release = releaseOf(minor)
  const version = release.has(namesMinor) ? release.name : `v${facts.versionOf(minor)}`
  return { title: 'Kubernetes', version }
}

export const securityDescription = 'A token, after the word Bearer.'
