/**
 * Aggregated discovery at /api and /apis. It is cached until the served kinds change, and has an
 * ETag so that clients fetch it only after a change.
 */
import { createHash } from 'node:crypto'
import { headerText } from '#access/authenticate/header-values.ts'
import {
  aggregatedList,
  aggregatedResources,
  type VersionDiscovery,
} from '#discovery/aggregated.ts'
import { orderedGroups, type PriorityOf } from '#discovery/group-order.ts'
import { apiResourceList } from '#discovery/resources.ts'
import { answerHeaders } from '#http/response/answer-headers.ts'
import type { Exchange } from '#http/exchange.ts'
import { encodeValue } from '#http/response/other-shapes.ts'
import { send } from '#http/response/respond.ts'
import type { AggregatedShape } from '#http/response/shape.ts'
import type { Catalog, GroupVersion } from '#kinds/catalog.ts'
import type { Type } from '#schema/type.ts'

export interface AggregatedParts {
  readonly catalog: Catalog
  readonly release: number
  readonly priorityOf: PriorityOf
  /** The type of the list in a version of apidiscovery.k8s.io, for its protobuf form. */
  readonly listTypeOf: (version: string) => Type
  readonly groupVersions: (local: readonly GroupVersion[]) => readonly GroupVersion[]
  /** The resources of aggregated servers. */
  readonly remotes?: {
    readonly generation: number
    refresh(): Promise<void>
    of(group: string, version: string): VersionDiscovery | undefined
  }
}

interface Kept {
  readonly groups: ReadonlyMap<string, VersionDiscovery[]>
  readonly etag: string
}

export class AggregatedDiscovery {
  readonly #parts: AggregatedParts
  readonly #kept = new Map<'/api' | '/apis', Kept>()
  #generation = -1

  constructor(parts: AggregatedParts) {
    this.#parts = parts
  }

  /**
   * `generation` changes with everything that discovery shows, except the results of other servers.
   */
  async answer(
    exchange: Exchange,
    path: '/api' | '/apis',
    shape: AggregatedShape,
    generation: number,
  ): Promise<void> {
    const { remotes, release, listTypeOf } = this.#parts
    if (path === '/apis') await remotes?.refresh()
    const { groups, etag } = this.#current(path, generation + (remotes?.generation ?? 0))
    const cached = { etag, 'cache-control': 'public', vary: 'Accept' }
    if (headerText(exchange.wire.headers['if-none-match']) === etag) {
      const { 'content-type': _, ...headers } = answerHeaders(exchange, '')
      exchange.status = 304
      exchange.wire.answer(304, { ...headers, ...cached }, undefined)
      return
    }
    const value = aggregatedList(`apidiscovery.k8s.io/${shape.version}`, groups, release)
    const type = shape.format === 'protobuf' ? listTypeOf(shape.version) : undefined
    const body = encodeValue(value, shape, type)
    await send(exchange, 200, shape, body, cached)
  }

  #current(path: '/api' | '/apis', generation: number): Kept {
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#kept.clear()
    }
    let kept = this.#kept.get(path)
    if (kept === undefined) {
      const groups = path === '/api' ? this.#core() : this.#named()
      const digest = createHash('sha512')
        .update(JSON.stringify([...groups]))
        .digest('hex')
      kept = { groups, etag: `"${digest.toUpperCase()}"` }
      this.#kept.set(path, kept)
    }
    return kept
  }

  #core(): Map<string, VersionDiscovery[]> {
    return new Map([['', [this.#versionOf('', 'v1')]]])
  }

  #named(): Map<string, VersionDiscovery[]> {
    const { catalog, groupVersions, priorityOf } = this.#parts
    const groups = orderedGroups(groupVersions(catalog.groupVersions), priorityOf)
    return new Map(
      [...groups].map(([group, versions]) => [
        group,
        versions.map((version) => this.#versionOf(group, version)),
      ]),
    )
  }

  #versionOf(group: string, version: string): VersionDiscovery {
    const { catalog, release, remotes } = this.#parts
    const remote = remotes?.of(group, version)
    if (remote !== undefined) return remote
    const kinds = catalog.kindsOf(group, version)
    const { resources } = apiResourceList(group, version, kinds, release)
    // Only custom kinds state the group and version of their response kind.
    const own = kinds.some(({ origin }) => origin === 'built-in') ? undefined : { group, version }
    return { version, resources: aggregatedResources(resources, own), freshness: 'Current' }
  }
}
