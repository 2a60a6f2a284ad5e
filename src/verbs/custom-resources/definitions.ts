/**
 * Updates the catalog from the CustomResourceDefinitions in the store, and the status of each
 * definition. If several servers share a store, each of them does this, because each receives all
 * changes of definitions.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import type { Kind, Resource } from '#kinds/kind.ts'
import { nameOf, type Server, timestamp } from '#verbs/server.ts'
import { isTrue } from './conditions.ts'
import { finalize, isLeaving } from './finalize.ts'

const loadSettle = loadLater<typeof import('./settle.ts')>(import.meta.url, './settle')

const definitionGroup = 'apiextensions.k8s.io'
const definitionPlural = 'customresourcedefinitions'

/** The pause before a failed definition is processed again. */
const retryMs = 1000
/**
 * After a start all definitions are processed, but few need a write. After this many, the event
 * loop handles requests.
 */
const lookedAtOnce = 20

/**
 * Groups processed in parallel: their writes fit in one commit of the store without delaying other
 * writes.
 */
const groupsAtOnce = 16

export interface DefinitionsParts {
  readonly server: Server
  /** Makes the resource of a definition. */
  readonly resourceOf: (definition: KubeObject) => Resource
  readonly client: ApiClient
  /** Deletes instances of a removed kind without authorization, even if the kind is not served. */
  readonly remover: (kind: Kind) => ApiClient
  readonly report: (message: string, error: unknown) => void
  /** Called with the reason and the resource when the published part of a definition changes. */
  readonly published?: (name: string, reason: PublishReason, resource: Resource) => void
}

export type PublishReason = 'add' | 'update' | 'remove'

interface Served {
  readonly resource: Resource
  /** Identifies the state of the definition from which the resource was made. */
  readonly mark: string
}

export class Definitions {
  readonly #parts: DefinitionsParts
  readonly #known = new Map<string, KubeObject>()
  /**
   * Names of definitions by group. Name conflicts exist only within a group, and a definition's
   * group never changes.
   */
  readonly #groups = new Map<string, Set<string>>()
  readonly #served = new Map<string, Served>()
  /** Groups with built-in kinds; custom resources in them are not served. */
  readonly #builtIn = new Set<string>()
  readonly #waiting = new Set<string>()
  readonly #leaving = new Set<string>()
  #working = false
  #stopped = false
  #stop: (() => void) | undefined

  constructor(parts: DefinitionsParts) {
    this.#parts = parts
    for (const { group } of parts.server.catalog.groupVersions) this.#builtIn.add(group)
  }

  /** Resolves when all definitions that exist now are served. */
  async start(): Promise<void> {
    this.#stop = await this.#parts.server.reader.follow(definitionGroup, definitionPlural, {
      keeps: true,
      changed: (definition) => this.#changed(definition),
      deleted: (definition) => this.#deleted(nameOf(definition)),
    })
  }

  stop(): void {
    this.#stopped = true
    this.#stop?.()
  }

  #changed(definition: KubeObject): void {
    const name = nameOf(definition)
    const before = this.#known.get(name)
    this.#know(name, definition)
    if (before !== undefined && before.metadata.uid !== definition.metadata.uid)
      this.#withdraw(name)
    this.#serve(name, definition)
    this.#enqueue(name)
  }

  #deleted(name: string): void {
    const definition = this.#known.get(name)
    this.#withdraw(name)
    if (definition === undefined) return
    this.#known.delete(name)
    const { group } = definition.spec
    const names = this.#groups.get(group)
    names?.delete(name)
    if (names?.size === 0) this.#groups.delete(group)
    this.#enqueueGroup(definition, name)
  }

  #know(name: string, definition: KubeObject): void {
    this.#known.set(name, definition)
    const { group } = definition.spec
    const names = this.#groups.get(group)
    if (names === undefined) this.#groups.set(group, new Set([name]))
    else names.add(name)
  }

  /** All definitions of a group. */
  *#inGroup(group: string): Iterable<KubeObject> {
    for (const name of this.#groups.get(group) ?? []) yield this.#known.get(name) as KubeObject
  }

  #serve(name: string, definition: KubeObject): void {
    if (!isTrue(definition, 'NamesAccepted') && !isTrue(definition, 'Established')) {
      this.#withdraw(name)
      return
    }
    const mark = markOf(definition)
    const old = this.#served.get(name)
    if (old?.mark === mark) {
      this.#markTerminating(old.resource, isTrue(definition, 'Terminating'))
      return
    }
    const { catalog } = this.#parts.server
    if (this.#builtIn.has(definition.spec.group)) return
    this.#takeOut(name)
    const resource = this.#parts.resourceOf(definition)
    this.#served.set(name, { resource, mark })
    catalog.add(resource)
    this.#parts.published?.(name, old === undefined ? 'add' : 'update', resource)
  }

  /**
   * A definition that is being deleted keeps its watches, so that clients see the deletion of its
   * instances.
   */
  #markTerminating(resource: Resource, terminating: boolean): void {
    if (resource.terminating === terminating) return
    resource.terminating = terminating
    this.#parts.server.catalog.retell()
  }

  #withdraw(name: string): void {
    const old = this.#takeOut(name)
    if (old !== undefined) this.#parts.published?.(name, 'remove', old)
  }

  #takeOut(name: string): Resource | undefined {
    const old = this.#served.get(name)
    if (old === undefined) return undefined
    this.#served.delete(name)
    this.#parts.server.catalog.remove(old.resource)
    this.#parts.server.cache.drop(old.resource)
    return old.resource
  }

  #enqueueGroup({ spec }: KubeObject, except: string): void {
    for (const other of this.#inGroup(spec.group)) {
      const name = nameOf(other)
      if (name !== except && !isTrue(other, 'NamesAccepted')) this.#enqueue(name)
    }
  }

  #enqueue(name: string): void {
    this.#waiting.add(name)
    if (this.#working || this.#stopped) return
    this.#working = true
    setImmediate(() => this.#work())
  }

  /**
   * Processes the waiting definitions. Up to 16 groups run in parallel. Within a group, definitions
   * are settled one after another, because the first one gets a contested name. The loop also
   * visits names that are added to `#waiting` while it runs.
   */
  async #work(): Promise<void> {
    let looked = 0
    const busy = new Map<string, Promise<void>>()
    for (const name of this.#waiting) {
      if (++looked % lookedAtOnce === 0) await new Promise(setImmediate)
      if (this.#stopped) break
      this.#waiting.delete(name)
      const { group = '' } = this.#known.get(name)?.spec ?? {}
      const settled = (busy.get(group) ?? Promise.resolve())
        .then(() => this.#settle(name))
        .catch((error) => this.#tryLater(name, error))
        .then(() => {
          if (busy.get(group) === settled) busy.delete(group)
        })
      busy.set(group, settled)
      if (busy.size >= groupsAtOnce) await Promise.race(busy.values())
      // Settling a definition may enqueue others; the loop then goes on with them.
      if (this.#waiting.size === 0) await Promise.all(busy.values())
    }
    this.#working = false
    if (this.#waiting.size > 0) this.#enqueue(this.#waiting.values().next().value as string)
  }

  #tryLater(name: string, error: unknown): void {
    this.#parts.report(`the definition ${name} could not be settled`, error)
    setTimeout(() => this.#enqueue(name), retryMs).unref()
  }

  async #settle(name: string): Promise<void> {
    const definition = this.#known.get(name)
    if (definition === undefined) return
    const { clock, release } = this.#parts.server
    const group = this.#inGroup(definition.spec.group)
    const next = loadSettle().settle(definition, group, timestamp(clock), release)
    if (next === undefined) {
      if (isLeaving(definition)) this.#finalize(name)
      return
    }
    const written = await this.writeStatus(next)
    if (written === undefined) return
    // Use the written status at once for the next definition's names; the feed delivers it later.
    if (this.#known.get(name) === definition) this.#know(name, written)
    if (changesNames(definition, written)) this.#enqueueGroup(written, name)
  }

  /** Returns undefined if another writer was faster; its change arrives by the feed. */
  async writeStatus(definition: KubeObject): Promise<KubeObject | undefined> {
    const { client, server } = this.#parts
    const kind = definitionKind(server)
    try {
      const [body] = await kind.resource.convert([definition], kind.resource.hub, kind)
      const written = await client.update(refOf(kind), body, 'status')
      const [stable] = await kind.resource.convert([written], kind, kind.resource.hub)
      return stable
    } catch (error) {
      if (error instanceof ApiError && (error.code === 404 || error.code === 409)) return undefined
      throw error
    }
  }

  /**
   * Deletes the instances in the background: it may take long, and other definitions must not wait.
   */
  #finalize(name: string): void {
    if (this.#leaving.has(name)) return
    this.#leaving.add(name)
    const { server, remover, report } = this.#parts
    const run = async () => {
      const definition = this.#known.get(name)
      if (definition === undefined || !isLeaving(definition)) return
      await finalize(definition, {
        remover,
        resource: this.#served.get(name)?.resource,
        now: () => timestamp(server.clock),
        writeStatus: (next) => this.writeStatus(next),
      })
    }
    const look = () => {
      const definition = this.#known.get(name)
      if (definition !== undefined && isLeaving(definition)) this.#enqueue(name)
    }
    run().then(
      () => {
        this.#leaving.delete(name)
        // Another writer may have changed the definition during this work.
        setTimeout(look, retryMs).unref()
      },
      (error) => {
        report(`the instances of ${name} could not be removed`, error)
        // The feed will deliver our own status update; it must not cause an immediate retry.
        setTimeout(() => {
          this.#leaving.delete(name)
          look()
        }, retryMs).unref()
      },
    )
  }
}

/** Identifies the fields of a definition from which its resource is made. */
function markOf(definition: KubeObject): string {
  const { uid, generation } = definition.metadata
  const names = JSON.stringify(definition.status.acceptedNames)
  return `${uid} ${generation} ${names}`
}

const changesNames = (before: KubeObject, after: KubeObject): boolean =>
  JSON.stringify(before.status?.acceptedNames) !== JSON.stringify(after.status?.acceptedNames)

/** The kind of CustomResourceDefinitions: v1, or v1beta1 in releases without v1. */
function definitionKind({ catalog }: Server): Kind {
  const stable = catalog.find(definitionGroup, 'v1', definitionPlural)
  return stable ?? (catalog.find(definitionGroup, 'v1beta1', definitionPlural) as Kind)
}

const refOf = ({ group, version, plural }: Kind): ResourceRef => ({ group, version, plural })
