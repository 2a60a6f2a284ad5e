/** The discovery documents that list resources: /api/v1 and /apis/<group>/<version>. */
import { change, releaseOf } from '#api/releases/change.ts'
import { groupOf, versionOf } from '#api/api-version.ts'
import type { Kind, Subresource } from '#kinds/kind.ts'
import { storageVersionHash } from './storage-version-hash.ts'

/** Verbs that discovery omits while the definition of a kind is being deleted. */
const writing = new Set(['patch', 'create', 'update'])

export interface ApiResourceList {
  readonly kind: 'APIResourceList'
  /** Absent in groups that are older than this convention. */
  readonly apiVersion?: 'v1'
  readonly groupVersion: string
  readonly resources: readonly ApiResource[]
}

export interface ApiResource {
  readonly name: string
  readonly singularName: string
  readonly namespaced: boolean
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly storageVersionHash?: string
}

const showsSingularNames = change('discovery shows singular names of built-in kinds', { since: 27 })

export function apiResourceList(
  group: string,
  version: string,
  kinds: Iterable<Kind>,
  release: number,
): ApiResourceList {
  const sorted = [...kinds].sort((a, b) => (a.plural < b.plural ? -1 : 1))
  return {
    kind: 'APIResourceList',
    ...(group === '' || group === 'extensions' ? undefined : { apiVersion: 'v1' as const }),
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: sorted.flatMap((kind) => [
      resourceOf(kind, release),
      ...[...kind.subresources.values()].map((one) => subresourceOf(kind, one)),
    ]),
  }
}

function resourceOf(kind: Kind, release: number): ApiResource {
  const { stored, terminating } = kind.resource
  const singular = kind.origin === 'custom' || releaseOf(release).has(showsSingularNames)
  return {
    name: kind.plural,
    singularName: singular ? kind.singular : '',
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: [...kind.verbs].filter((verb) => terminating !== true || !writing.has(verb)),
    ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : undefined),
    ...(kind.categories.length > 0 ? { categories: kind.categories } : undefined),
    // Resources without the watch verb are not stored, so they have no hash.
    ...(kind.verbs.has('watch')
      ? { storageVersionHash: storageVersionHash(stored.group, stored.version, stored.kind) }
      : undefined),
  }
}

function subresourceOf(kind: Kind, one: Subresource): ApiResource {
  // A Scale shows its group version even if it is that of the resource, unless the resource has
  // only the scale subresource.
  const shown = one.apiVersion !== kind.apiVersion || (one.name === 'scale' && kind.verbs.size > 0)
  const group = groupOf(one.apiVersion)
  return {
    name: `${kind.plural}/${one.name}`,
    singularName: '',
    namespaced: kind.namespaced,
    ...(shown && group !== '' ? { group } : undefined),
    ...(shown ? { version: versionOf(one.apiVersion) } : undefined),
    kind: one.kind,
    verbs: [...one.verbs],
  }
}
