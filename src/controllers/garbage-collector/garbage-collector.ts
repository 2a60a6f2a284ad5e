/**
 * Deletes objects whose owners no longer exist. It watches the metadata of every kind that can be
 * deleted, including custom kinds. It keeps the graph of owners in memory and visits only the
 * neighbours of a changed object, so it never scans all objects.
 */
import { setImmediate } from 'node:timers/promises'
import { pause } from '#client/backoff.ts'
import type { ResourceRef } from '#client/client.ts'
import { reflect } from '#client/reflector.ts'
import type { WorkQueue } from '#client/work-queue.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { queueFor } from '#controllers/queue-for.ts'
import { Collector, UnknownOwnerKind } from './collect.ts'
import { foreignOwners } from './foreign-owners.ts'
import { Graph } from './graph.ts'
import { OwnerKinds, type Served } from './owner-kinds.ts'

/** How often discovery is read, besides whenever a definition changes. */
const refreshMs = 30_000
/** Definitions take a moment to be served. */
const settleMs = 200
/** Dependents written just before their owner's deletion reach the graph within this time. */
const orphanDelayMs = 200
/**
 * How long to wait for the first lists before beginning all the same: a kind that cannot be listed
 * must not stop the rest.
 */
const firstListsMs = 30_000
const workersMax = 20
/**
 * Watches that are started in one batch. With a thousand kinds, the server can handle requests
 * between batches.
 */
const begunAtOnce = 10

export const garbageCollector: Controller = {
  name: 'garbagecollector',
  account: 'generic-garbage-collector',
  start: (parts) => new GarbageCollector(parts).start(),
}

/** Events are ignored: they expire and own no objects. */
const isIgnored = ({ group, plural }: ResourceRef) =>
  plural === 'events' && (group === '' || group === 'events.k8s.io')

interface Monitor {
  readonly stop: AbortController
  /** Resolves when its first list is complete, or when its waiters are released. */
  readonly synced: Promise<void>
}

class GarbageCollector {
  readonly #parts: ControllerParts
  readonly #kinds: OwnerKinds
  readonly #graph: Graph
  readonly #collector: Collector
  readonly #monitors = new Map<string, Monitor>()
  readonly #toExamine: WorkQueue
  readonly #toOrphan: WorkQueue
  #round = 0
  #refresh = () => {}

  constructor(parts: ControllerParts) {
    this.#parts = parts
    this.#kinds = new OwnerKinds(parts.client)
    this.#graph = new Graph({
      examine: ({ uid }) => this.#toExamine.add(uid),
      orphan: ({ uid }) => this.#toOrphan.addAfter(uid, orphanDelayMs),
      resourceOf: (reference) => this.#kinds.of(reference),
    })
    this.#collector = new Collector(
      parts.client,
      this.#graph,
      this.#kinds,
      ({ uid }) => this.#toExamine.add(uid),
      foreignOwners(parts),
    )
    const options = {
      workersMax,
      paused: true,
      backoff: { firstMs: 20, longestMs: 60_000 },
      report: (key: string, error: unknown, failures: number) => {
        // A kind that is not served is logged once; lost races are usual.
        if (error instanceof UnknownOwnerKind ? failures !== 3 : failures < 3) return
        parts.report(
          `garbagecollector: the object with uid ${key} failed; the controller tries again`,
          error,
        )
      },
    }
    this.#toExamine = queueFor('garbagecollector', parts, (uid) => this.#examine(uid), options)
    this.#toOrphan = queueFor('garbagecollector', parts, (uid) => this.#orphan(uid), options)
  }

  async #examine(uid: string): Promise<void> {
    const node = this.#graph.get(uid)
    if (node !== undefined) await this.#collector.collect(node)
  }

  async #orphan(uid: string): Promise<void> {
    // Dependents of a kind that is not listed yet would be garbage-collected once their owner is
    // gone.
    await this.#listed()
    const node = this.#graph.get(uid)
    if (node?.orphaning) await this.#collector.orphan(node)
  }

  /** Everything that is followed now has been listed. */
  #listed = () => Promise.all([...this.#monitors.values()].map(({ synced }) => synced))

  start(): void {
    void this.#run()
  }

  async #run(): Promise<void> {
    const { signal, report } = this.#parts
    const asking = () =>
      new Promise<void>((resolve) => {
        this.#refresh = resolve
      })
    let asked = asking()
    let begun = false
    while (!signal.aborted) {
      try {
        await this.#follow()
        if (!begun) {
          await Promise.race([this.#listed(), pause(firstListsMs, signal)])
          begun = true
          this.#toExamine.start()
          this.#toOrphan.start()
        }
      } catch (error) {
        report('garbagecollector: the kinds there are could not be read', error)
      }
      await Promise.race([asked, pause(refreshMs, signal)])
      // A later caller may need kinds that are not served yet, so it triggers another discovery.
      asked = asking()
      await pause(settleMs, signal)
    }
  }

  /** Starts watches for new kinds and stops watches for kinds that are no longer served. */
  async #follow(): Promise<void> {
    const wanted = new Map<string, Served>()
    for (const served of await this.#kinds.refresh()) {
      const { group, version, plural } = served
      if (!isIgnored(served)) wanted.set(`${group}/${version}/${plural}`, served)
    }
    for (const [key, { stop }] of this.#monitors) {
      if (wanted.has(key)) continue
      stop.abort()
      this.#monitors.delete(key)
    }
    let begun = 0
    for (const [key, served] of wanted) {
      if (this.#monitors.has(key)) continue
      if (begun > 0 && begun % begunAtOnce === 0) await setImmediate()
      if (this.#parts.signal.aborted) return
      begun++
      this.#monitors.set(key, this.#monitor(served))
    }
  }

  #monitor({ group, version, plural }: Served): Monitor {
    const { client, signal, report } = this.#parts
    const resource: ResourceRef = { group, version, plural }
    const stop = new AbortController()
    const graph = this.#graph
    const isDefinition = plural === 'customresourcedefinitions' || plural === 'apiservices'
    let round = 0
    let announce = () => {}
    const synced = new Promise<void>((resolve) => {
      announce = resolve
    })
    stop.signal.addEventListener('abort', announce, { once: true })
    void reflect({
      client,
      resource,
      signal: AbortSignal.any([signal, stop.signal]),
      report,
      sink: {
        begin: () => {
          round = ++this.#round
        },
        listed: (object) => graph.changed(resource, object, round),
        end: () => {
          graph.endRound(resource, round)
          announce()
        },
        changed: (object) => {
          graph.changed(resource, object)
          if (isDefinition) this.#refresh()
        },
        deleted: (object) => {
          graph.ended(object.metadata.uid ?? '')
          if (isDefinition) this.#refresh()
        },
      },
    })
    return { stop, synced }
  }
}
