/**
 * Which objects belong to which owner, from the informers of both. A change of an object leads to
 * its owner; a change of an orphan leads to the owners whose selector matches it.
 *
 * Example: replica set `web` (uid 7) owns the pods `a` and `b`. `ownedBy('7')` yields both. The
 * deletion of `a` reports `web`.
 */
import { labelMatcher, type LabelSelector } from '#api/label-selector.ts'
import type { Informer } from '#client/informer.ts'
import type { KeptOwned, KeptSelecting } from '#controllers/kept.ts'

export class OwnerIndex {
  readonly #affected: (key: string) => void
  /** Owners by uid and, for orphans, by namespace. */
  readonly #owners = new Map<string, KeptSelecting>()
  readonly #byNamespace = new Map<string, Set<KeptSelecting>>()
  readonly #owned = new Map<string, Map<string, KeptOwned>>()
  readonly #matchers = new WeakMap<KeptSelecting, ReturnType<typeof labelMatcher>>()

  constructor(
    owners: Informer<KeptSelecting>,
    objects: Informer<KeptOwned>,
    /** Receives the key of each owner whose objects changed. */
    affected: (key: string) => void,
  ) {
    this.#affected = affected
    owners.listen({
      changed: (owner, previous) => {
        if (previous !== undefined) this.#drop(previous)
        this.#owners.set(owner.uid, owner)
        const { namespace } = owner
        const others = this.#byNamespace.get(namespace) ?? new Set()
        this.#byNamespace.set(namespace, others.add(owner))
      },
      deleted: (owner) => this.#drop(owner),
    })
    objects.listen({
      changed: (object, previous) => {
        this.#forget(previous)
        if (previous !== undefined && previous.owner !== object.owner) this.report(previous.owner)
        if (object.owner === '') return this.#reportMatching(object)
        const owned = this.#owned.get(object.owner) ?? new Map()
        this.#owned.set(object.owner, owned.set(object.uid, object))
        this.report(object.owner)
      },
      deleted: (object) => {
        this.#forget(object)
        this.report(object.owner)
      },
    })
  }

  ownedBy(uid: string): Iterable<KeptOwned> {
    return this.#owned.get(uid)?.values() ?? []
  }

  #drop(owner: KeptSelecting): void {
    this.#owners.delete(owner.uid)
    const others = this.#byNamespace.get(owner.namespace)
    if (others?.delete(owner) && others.size === 0) this.#byNamespace.delete(owner.namespace)
  }

  #forget(object: KeptOwned | undefined): void {
    if (object === undefined) return
    const owned = this.#owned.get(object.owner)
    if (owned?.delete(object.uid) && owned.size === 0) this.#owned.delete(object.owner)
  }

  /** Reports the owner with this uid, if there is one. */
  report(uid: string): void {
    const found = this.#owners.get(uid)
    if (found !== undefined) this.#affected(`${found.namespace}/${found.name}`)
  }

  #reportMatching({ namespace, labels }: KeptOwned): void {
    for (const owner of this.#byNamespace.get(namespace) ?? []) {
      if (this.#matcherOf(owner)(labels)) this.#affected(`${owner.namespace}/${owner.name}`)
    }
  }

  #matcherOf(owner: KeptSelecting) {
    const known = this.#matchers.get(owner)
    if (known !== undefined) return known
    const selector: LabelSelector = owner.selector
    const made = labelMatcher(selector)
    this.#matchers.set(owner, made)
    return made
  }
}
