/**
 * Aggregated discovery: one document with every group, its versions and their resources.
 * kube-apiserver returns it at /api and /apis if the Accept header requests it, so that clients
 * need not fetch each group version.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { unsetCreationTime } from '#api/unset-creation-time.ts'
import type { ApiResource } from './resources.ts'

const hasStableForm = change('aggregated discovery is served as v2', { since: 30 })

/** The supported versions of apidiscovery.k8s.io. */
export function aggregatedVersions(
  release: number,
  feature: (gate: string) => boolean,
): readonly string[] {
  if (!feature('AggregatedDiscoveryEndpoint')) return []
  const beta = feature('AggregatedDiscoveryRemoveBetaType') ? [] : ['v2beta1']
  return releaseOf(release).has(hasStableForm) ? ['v2', ...beta] : beta
}

interface ResponseKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

interface SubresourceDiscovery {
  readonly subresource: string
  readonly responseKind: ResponseKind
  readonly verbs: readonly string[]
}

export interface ResourceDiscovery {
  readonly resource: string
  readonly responseKind: ResponseKind
  readonly scope: 'Cluster' | 'Namespaced'
  readonly singularResource: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: SubresourceDiscovery[]
}

export interface VersionDiscovery {
  readonly version: string
  readonly resources?: readonly ResourceDiscovery[]
  readonly freshness: 'Current' | 'Stale'
}

export interface AggregatedList {
  readonly kind: 'APIGroupDiscoveryList'
  readonly apiVersion: string
  readonly metadata: object
  readonly items: readonly { readonly metadata: object; readonly versions: VersionDiscovery[] }[]
}

const noKind: ResponseKind = { group: '', version: '', kind: '' }

/**
 * The resources of a group version, made from the list of /apis/<group>/<version>. A resource
 * without a group belongs to `own`. A subresource whose resource is not served gets a resource that
 * has only this subresource.
 */
export function aggregatedResources(
  resources: readonly ApiResource[],
  own: { readonly group: string; readonly version: string } = noKind,
): ResourceDiscovery[] {
  const found = new Map<string, ResourceDiscovery>()
  const kindOf = ({ group, version, kind }: ApiResource): ResponseKind =>
    group === undefined && version === undefined
      ? { ...own, kind }
      : { group: group ?? '', version: version ?? '', kind }
  const scopeOf = ({ namespaced }: ApiResource) => (namespaced ? 'Namespaced' : 'Cluster')
  for (const one of resources) {
    if (one.name.includes('/')) continue
    found.set(one.name, {
      resource: one.name,
      responseKind: kindOf(one),
      scope: scopeOf(one),
      singularResource: one.singularName,
      verbs: one.verbs,
      ...(one.shortNames && { shortNames: one.shortNames }),
      ...(one.categories && { categories: one.categories }),
    })
  }
  for (const one of resources) {
    const slash = one.name.indexOf('/')
    if (slash === -1) continue
    const [resource, subresource] = [one.name.slice(0, slash), one.name.slice(slash + 1)]
    const parent: ResourceDiscovery = found.get(resource) ?? {
      resource,
      responseKind: noKind,
      scope: scopeOf(one),
      singularResource: '',
      verbs: [],
    }
    const subresources = parent.subresources ?? []
    subresources.push({ subresource, responseKind: kindOf(one), verbs: one.verbs })
    found.set(resource, { ...parent, subresources })
  }
  return [...found.values()]
}

/** `groups` and the versions of each group are in discovery order. */
export function aggregatedList(
  apiVersion: string,
  groups: ReadonlyMap<string, VersionDiscovery[]>,
  release: number,
): AggregatedList {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion,
    metadata: {},
    items: [...groups].map(([name, versions]) => ({
      metadata: { ...(name !== '' && { name }), ...unsetCreationTime(release) },
      versions,
    })),
  }
}
