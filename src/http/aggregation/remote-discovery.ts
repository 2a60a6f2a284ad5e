/**
 * The resources of aggregated servers, for aggregated discovery. Like kube-apiserver, it sends each
 * server one request for all group versions. A server without aggregated discovery gets one request
 * per group version. Results are used for a minute and then refreshed in the background. An
 * unavailable server keeps its last result, marked as stale.
 */
import type { Loose } from '#api/object-meta.ts'
import { aggregatedResources, type VersionDiscovery } from '#discovery/aggregated.ts'
import type { Aggregation, Remote } from './aggregation.ts'
import { fetchDocument } from './fetch-document.ts'

const accepted = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
/** How long kube-apiserver uses a result before it refreshes it. */
const freshMs = 60_000

interface Known {
  readonly atMs: number
  readonly remote: Remote
  readonly found: VersionDiscovery
}

export class RemoteDiscovery {
  readonly #aggregation: Aggregation
  readonly #now: () => number
  /** The keys are `group/version`. */
  readonly #known = new Map<string, Known>()
  readonly #asking = new Map<string, Promise<void>>()
  #generation = 0

  constructor(aggregation: Aggregation, monotonicMs: () => number) {
    this.#aggregation = aggregation
    this.#now = monotonicMs
  }

  /** Increases with every changed result. */
  get generation(): number {
    return this.#generation
  }

  /**
   * Fetches missing results and waits for them; refreshes results older than a minute in the
   * background.
   */
  async refresh(): Promise<void> {
    const first: Promise<void>[] = []
    const there = new Set<string>()
    for (const [key, remote] of this.#aggregation.remotes()) {
      there.add(key)
      const known = this.#known.get(key)
      const isKnown = known?.remote.service === remote.service
      if (isKnown && this.#now() - known.atMs < freshMs) continue
      const asking = this.#asking.get(key) ?? this.#ask(key, remote)
      this.#asking.set(key, asking)
      if (!isKnown) first.push(asking)
    }
    for (const key of this.#known.keys()) if (!there.has(key)) this.#known.delete(key)
    await Promise.all(first)
  }

  /** The resources of an aggregated group version; undefined for a local one. */
  of(group: string, version: string): VersionDiscovery | undefined {
    const key = `${group}/${version}`
    if (this.#aggregation.remoteOf(group, version) === undefined) return undefined
    return this.#known.get(key)?.found ?? { version, freshness: 'Stale' }
  }

  async #ask(key: string, remote: Remote): Promise<void> {
    const [group = '', version = ''] = key.split('/')
    const fresh = remote.available ? await this.#fetch(remote, group, version) : undefined
    const before = this.#known.get(key)
    const found: VersionDiscovery =
      fresh ?? (before ? { ...before.found, freshness: 'Stale' } : { version, freshness: 'Stale' })
    this.#known.set(key, { atMs: this.#now(), remote, found })
    this.#asking.delete(key)
    if (JSON.stringify(before?.found) !== JSON.stringify(found)) this.#generation++
  }

  async #fetch(
    remote: Remote,
    group: string,
    version: string,
  ): Promise<VersionDiscovery | undefined> {
    const whole = await fetchDocument(this.#aggregation, remote, '/apis', '', accepted)
    try {
      if (typeof whole !== 'string' && whole.contentType.includes('as=APIGroupDiscoveryList'))
        return versionIn(JSON.parse(whole.bytes.toString()), group, version)
      const path = `/apis/${group}/${version}`
      const list = await fetchDocument(this.#aggregation, remote, path)
      if (typeof list === 'string') return undefined
      const { resources = [] }: Loose = JSON.parse(list.bytes.toString())
      return { version, resources: aggregatedResources(resources), freshness: 'Current' }
    } catch {
      // The response is not JSON, or not a discovery document.
      return undefined
    }
  }
}

function versionIn({ items = [] }: Loose, group: string, version: string): VersionDiscovery {
  const ofGroup: Loose | undefined = items.find(({ metadata }: Loose) => metadata?.name === group)
  const found: Loose | undefined = ofGroup?.versions?.find((one: Loose) => one.version === version)
  const resources = found?.resources
  return { version, ...(resources && { resources }), freshness: 'Current' }
}
