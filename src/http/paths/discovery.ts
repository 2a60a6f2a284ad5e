/**
 * /api, /apis and below: discovery documents, made on first use and cached until the served kinds
 * change.
 */
import { pathNotFound } from '#api/status-error.ts'
import { orderedGroups, type PriorityOf } from '#discovery/group-order.ts'
import { apiGroup, apiGroupList, apiVersions } from '#discovery/groups.ts'
import { apiResourceList } from '#discovery/resources.ts'
import { encodeValue } from '#http/response/other-shapes.ts'
import type { PathHandler } from '#http/parts.ts'
import { send } from '#http/response/respond.ts'
import { aggregatedShape, documentShape, type Shape } from '#http/response/shape.ts'
import type { Catalog, GroupVersion } from '#kinds/catalog.ts'
import type { Type } from '#schema/type.ts'
import type { AggregatedDiscovery } from './aggregated-discovery.ts'
import { requireGet } from './require-get.ts'

export interface DiscoveryParts {
  readonly catalog: Catalog
  readonly release: number
  readonly priorityOf: PriorityOf
  readonly serverAddress: string
  /** The types of discovery documents, for protobuf. */
  readonly typeOf: (kind: string) => Type
  /** Aggregated group versions and the order of all; if undefined, only local ones are shown. */
  readonly aggregated?: {
    readonly generation: number
    groupVersions(local: readonly GroupVersion[]): GroupVersion[]
  }
  /** Aggregated discovery, with its served versions. */
  readonly whole?: {
    readonly versions: readonly string[]
    readonly load: () => AggregatedDiscovery
  }
}

export function discoveryPaths(parts: DiscoveryParts): PathHandler {
  let generation = -1
  let made = new Map<string, unknown>()
  const currentGeneration = () => parts.catalog.generation + (parts.aggregated?.generation ?? 0)
  const documentOf = (path: string): unknown => {
    const current = currentGeneration()
    if (generation !== current) {
      generation = current
      made = new Map()
    }
    if (!made.has(path)) made.set(path, makeDocument(parts, path))
    return made.get(path)
  }
  return {
    matches: (path) => /^\/apis?\/?$/.test(path) || isBelow(parts, path),
    handle(exchange) {
      const path = exchange.target.path.replace(/\/$/, '')
      const routed = isRouted(parts, path)
      if (routed) requireGet(exchange)
      if (parts.whole !== undefined && (path === '/api' || path === '/apis')) {
        const shape = aggregatedShape(exchange, parts.whole.versions)
        if (shape !== undefined)
          return parts.whole.load().answer(exchange, path, shape, currentGeneration())
      }
      const shape: Shape = documentShape(exchange, routed ? 'any form' : 'unrouted')
      const value = documentOf(path)
      if (value === undefined) throw pathNotFound()
      const shown = value as Parameters<typeof encodeValue>[0]
      const type = shape.format === 'protobuf' ? parts.typeOf(shown.kind) : undefined
      return send(exchange, 200, shape, encodeValue(shown, shape, type))
    },
  }
}

/**
 * The group of APIServices. kube-apiserver's aggregator serves it, and serves the documents of
 * other groups for any method.
 */
const ownGroup = 'apiregistration.k8s.io'

/**
 * Whether kube-apiserver routes the path to a handler for GET only. /apis, groups and custom
 * versions accept every method.
 */
function isRouted({ catalog }: DiscoveryParts, path: string): boolean {
  const [, prefix, group, version] = path.split('/')
  if (prefix === 'api') return true
  if (version === undefined) return group === ownGroup
  return catalog.kindsOf(group, version).some(({ origin }) => origin === 'built-in')
}

/** Whether the path is that of a served group or group version. */
function isBelow({ catalog, aggregated }: DiscoveryParts, path: string): boolean {
  const [, prefix, group, version, more, most] = path.split('/')
  if (prefix === 'api') return group === 'v1' && (version ?? '') === '' && more === undefined
  if (prefix !== 'apis' || (more ?? '') !== '' || most !== undefined) return false
  if ((version ?? '') !== '') return catalog.hasGroupVersion(group, version)
  const ours = catalog.groupVersions
  return [...ours, ...(aggregated?.groupVersions(ours) ?? [])].some((one) => one.group === group)
}

function makeDocument(parts: DiscoveryParts, path: string): unknown {
  const { catalog, release, priorityOf } = parts
  const [, prefix, group, version] = path.split('/')
  if (path === '/api') return apiVersions(parts.serverAddress)
  if (prefix === 'api') return apiResourceList('', 'v1', catalog.kindsOf('', 'v1'), release)
  const shown = parts.aggregated?.groupVersions(catalog.groupVersions) ?? catalog.groupVersions
  const groups = orderedGroups(shown, priorityOf)
  if (path === '/apis') return apiGroupList(groups)
  if (version === undefined || version === '') {
    return (
      apiGroup(groups, group) ?? apiGroup(orderedGroups(catalog.groupVersions, priorityOf), group)
    )
  }
  return apiResourceList(group, version, catalog.kindsOf(group, version), release)
}
