/**
 * The resources of aggregated servers, for aggregated discovery. Each server gets one request for
 * all its group versions, as from kube-apiserver; one without aggregated discovery gets one for
 * each. The result is used for a minute, then fetched again while clients still get the known one.
 * A server that is away keeps its last answer, as stale.
 */
import type { Loose } from '#api/object-meta.ts'
import { aggregatedResources, type VersionDiscovery } from '#discovery/aggregated.ts'
import type { Aggregation, Remote } from './aggregation.ts'
import { fetchDocument } from './fetch-document.ts'

const accepted = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
/** How long kube-apiserver uses a result before it fetches it again. */
const freshMs = 60_000

interface Known {
  readonly atMs: number
  readonly remote: Remote
  readonly found: VersionDiscovery
}

export class RemoteDiscovery {
  readonly #aggregation: Aggregation
  readonly #now: () => number
  /** By group and version with a slash between. */
  readonly #known = new Map<string, Known>()
  readonly #asking = new Map<string, Promise<void>>()
  #generation = 0

  constructor(aggregation: Aggregation, monotonicMs: () => number) {
    this.#aggregation = aggregation
    this.#now = monotonicMs
  }

  /** Grows with every answer that differs from the one before. */
  get generation(): number {
    return this.#generation
  }

  /**
   * Fetches what is not known yet and waits for it; fetches again, without waiting, what is older
   * than a minute.
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

  /** What another server serves of a group version; undefined where the group version is ours. */
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
      // A document that is not JSON, or not what discovery is made of.
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
