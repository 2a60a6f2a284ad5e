/**
 * A local cache of one resource that controllers share, indexed by namespace and name. A `Keep`
 * function selects the part of each object to cache. Listeners are notified of every change. The
 * cache is as current as its watch.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { ApiClient, ResourceRef } from './client.ts'
import { reflect, type Sink } from './reflector.ts'

/** Returns the part of an object to cache. Undefined means that the object is not cached. */
export type Keep<T> = (object: KubeObject) => T | undefined

export interface Listener<T> {
  /**
   * Called once for each existing object, then for each write. `previous` is the cached part before
   * the write.
   */
  changed?(kept: T, previous: T | undefined): void
  /** The object was deleted, or `Keep` no longer selects it. */
  deleted?(kept: T): void
  /**
   * Called for every listed or written object, cached or not. The listener must not retain the
   * object.
   */
  seen?(object: KubeObject): void
  /** An object was deleted, cached or not. Only its name, namespace and uid are set. */
  gone?(object: KubeObject): void
  /** A list is complete. Events before the list may have been missed. */
  listedAll?(): void
}

export interface InformerOptions<T> {
  readonly client: ApiClient
  readonly resource: ResourceRef
  readonly keep: Keep<T>
  readonly signal: AbortSignal
  readonly report: (message: string, error: unknown) => void
}

/** The cached part of an object with its uid, because a new object can have the same name. */
interface Entry<T> {
  readonly uid: string | undefined
  readonly kept: T
}

const keyOf = ({ namespace = '', name = '' }: KubeObject['metadata']) => `${namespace}/${name}`

export class Informer<T> implements Sink {
  readonly #options: InformerOptions<T>
  readonly #entries = new Map<string, Entry<T>>()
  readonly #listeners = new Set<Listener<T>>()
  #unseen: Set<string> | undefined
  #running = false
  #announceSynced = () => {}
  /** Resolves when the first list is complete. */
  readonly synced = new Promise<void>((resolve) => {
    this.#announceSynced = resolve
  })

  constructor(options: InformerOptions<T>) {
    this.#options = options
  }

  start(): void {
    if (this.#running) return
    this.#running = true
    void reflect({ ...this.#options, sink: this })
  }

  /** The listener receives all existing objects, then every change. */
  listen(listener: Listener<T>): void {
    this.#listeners.add(listener)
    for (const kept of this.values()) this.#tell(() => listener.changed?.(kept, undefined))
  }

  get(namespace: string, name: string): T | undefined {
    return this.#entries.get(`${namespace}/${name}`)?.kept
  }

  *values(): Generator<T> {
    for (const { kept } of this.#entries.values()) yield kept
  }

  get size(): number {
    return this.#entries.size
  }

  begin(): void {
    this.#unseen = new Set(this.#entries.keys())
  }

  listed(object: KubeObject): void {
    this.#unseen?.delete(keyOf(object.metadata))
    this.changed(object)
  }

  end(): void {
    for (const key of this.#unseen ?? []) this.#drop(key)
    this.#unseen = undefined
    this.#announceSynced()
    for (const listener of this.#listeners) this.#tell(() => listener.listedAll?.())
  }

  changed(object: KubeObject): void {
    const key = keyOf(object.metadata)
    for (const listener of this.#listeners)
      if (listener.seen !== undefined) this.#tell(() => listener.seen?.(object))
    const kept = this.#options.keep(object)
    if (kept === undefined) {
      this.#drop(key)
      return
    }
    const { uid } = object.metadata
    if (this.#entries.get(key)?.uid !== uid) this.#drop(key)
    const previous = this.#entries.get(key)?.kept
    this.#entries.set(key, { uid, kept })
    for (const listener of this.#listeners) this.#tell(() => listener.changed?.(kept, previous))
  }

  deleted(object: KubeObject): void {
    this.#drop(keyOf(object.metadata))
    for (const listener of this.#listeners)
      if (listener.gone !== undefined) this.#tell(() => listener.gone?.(object))
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    for (const listener of this.#listeners) this.#tell(() => listener.deleted?.(entry.kept))
  }

  /** Calls a listener. An exception in one listener must not stop the watch. */
  #tell(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#options.report('a listener failed', error)
    }
  }
}
