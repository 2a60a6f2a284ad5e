/**
 * Converts CustomResourceDefinitions into resources, with one kind for each served version. Other
 * code cannot distinguish them from built-in kinds.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { compareVersions } from '#api/version-order.ts'
import { equalValues } from '#patch/json-map.ts'
import { customBehaviour } from './custom/behaviour.ts'
import { CustomKind, type CustomKindOptions } from './custom/custom-kind.ts'
import { isUnread, putBack } from './custom/unread.ts'
import type { Behaviour, Kind, Resource } from './kind.ts'

/** Converts objects to another version with the definition's webhook. */
export type ConvertElsewhere = (
  definition: KubeObject,
  objects: KubeObject[],
  desiredApiVersion: string,
) => Promise<KubeObject[]>

export interface CustomOptions extends CustomKindOptions {
  /** '/registry', or the value of --etcd-prefix. */
  readonly root: string
  readonly convertElsewhere: ConvertElsewhere
}

/** `definition` is in v1. It is retained and never changed. */
export function customResource(definition: KubeObject, options: CustomOptions): Resource {
  return new CustomResource(definition, options)
}

const conditionIs = ({ status }: KubeObject, type: string): boolean =>
  (status?.conditions ?? []).some((one: Loose) => one.type === type && one.status === 'True')

class CustomResource implements Resource {
  readonly group: string
  readonly errorGroup: string
  readonly plural: string
  readonly namespaced: boolean
  readonly storagePrefix: string
  readonly kinds: readonly CustomKind[]
  readonly stored: CustomKind
  readonly hub: CustomKind
  readonly behaviour: Behaviour
  readonly since: number
  readonly convertsElsewhere: boolean
  terminating: boolean
  readonly #definition: KubeObject
  readonly #options: CustomOptions
  readonly #all = new Map<string, CustomKind>()
  readonly #same = new Map<string, boolean>()

  constructor(definition: KubeObject, options: CustomOptions) {
    const { spec, status } = definition
    this.#definition = definition
    this.since = Number(definition.metadata.resourceVersion ?? 0)
    this.#options = options
    this.terminating = conditionIs(definition, 'Terminating')
    this.convertsElsewhere = spec.conversion?.strategy === 'Webhook'
    this.group = spec.group
    this.errorGroup = spec.group
    this.plural = status.acceptedNames.plural
    this.namespaced = spec.scope === 'Namespaced'
    this.storagePrefix = `${options.root}/${this.group}/${this.plural}`
    const versions: Loose[] = spec.versions
    for (const version of versions) {
      const kind = new CustomKind(definition, version, this, options)
      this.#all.set(kind.apiVersion, kind)
    }
    const all = [...this.#all.values()]
    this.kinds = all
      .filter((_, i) => versions[i].served === true)
      .sort((a, b) => compareVersions(a.version, b.version))
    this.stored =
      all[
        Math.max(
          0,
          versions.findIndex(({ storage }) => storage === true),
        )
      ]
    this.hub = this.#hubFor(versions)
    this.behaviour = customBehaviour({
      hasStatus: (apiVersion) => this.#all.get(apiVersion)?.subresources.has('status') === true,
      selectable: [...new Set(all.flatMap((kind) => kind.selectableFields))],
      release: releaseOf(options.release),
      anyStatus: all.some((kind) => kind.subresources.has('status')),
      defaultStatus: (object) => {
        // With a conversion webhook the object is in the requested version; the default belongs to
        // the stored version.
        const isOther = this.convertsElsewhere && object.apiVersion !== this.stored.apiVersion
        if (!isOther) this.stored.defaultStatus(object)
      },
      seenAs: (object, apiVersion) => this.#seenAs(object, apiVersion),
    })
  }

  /**
   * Behaviours run on the stored version. If versions differ, the hub has no schema, so conversion
   * to it loses no fields.
   */
  #hubFor(versions: Loose[]): CustomKind {
    if (versions.length < 2 || this.convertsElsewhere) return this.stored
    const stored = versions.find(({ storage }) => storage === true) ?? versions[0]
    const open = { ...stored, schema: undefined }
    return new CustomKind(this.#definition, open, this, this.#options, true)
  }

  /**
   * The object as a client of this version sees it: without fields that only other versions have.
   */
  #seenAs(object: KubeObject, apiVersion: string): KubeObject {
    const kind = this.#all.get(apiVersion)
    if (kind === undefined || this.hub === this.stored || this.sameShape(kind, this.stored)) {
      return object
    }
    return { ...kind.read(object), apiVersion: object.apiVersion }
  }

  kindOf(apiVersion: string): Kind | undefined {
    return this.#all.get(apiVersion)
  }

  convert(objects: KubeObject[], from: Kind, to: Kind): KubeObject[] | Promise<KubeObject[]> {
    if (from === to) return objects
    const target = to as CustomKind
    if (this.convertsElsewhere && from.apiVersion !== to.apiVersion) {
      return this.#options
        .convertElsewhere(this.#definition, objects, to.apiVersion)
        .then((converted) => converted.map((object) => this.#told(object, target)))
    }
    return objects.map((object) => {
      object.apiVersion = to.apiVersion
      if (to === this.hub && to !== this.stored) return object
      return isUnread(object)
        ? putBack(target.conformMerged(object).object, object)
        : target.read(object)
    })
  }

  /**
   * Prunes the result of a conversion webhook. In the stored version it also gets defaults, because
   * stored objects have them.
   */
  #told(object: KubeObject, kind: CustomKind): KubeObject {
    const read = kind.read(object)
    if (kind === this.stored) kind.applyDefaults(read)
    return read
  }

  renamed(object: KubeObject, to: Kind): KubeObject | Promise<KubeObject> {
    if (!this.convertsElsewhere) return { ...object, apiVersion: to.apiVersion }
    return this.#options
      .convertElsewhere(this.#definition, [object], to.apiVersion)
      .then(([converted]) => converted)
  }

  sameShape(a: Kind, b: Kind): boolean {
    if (a === b) return true
    if (this.convertsElsewhere) return false
    const key = `${a.version} ${b.version}`
    let same = this.#same.get(key)
    if (same === undefined) {
      same = (a as CustomKind).schemaText() === (b as CustomKind).schemaText()
      this.#same.set(key, same)
    }
    return same
  }

  readBack(object: KubeObject): KubeObject | undefined {
    // On the way to another version it is read anyway.
    const isStored = this.hub === this.stored && object.apiVersion === this.stored.apiVersion
    return isStored && isUnread(object) ? this.stored.read(object) : undefined
  }

  fillStored(object: KubeObject): void {
    // An object that was stored in another version has the defaults of that version only.
    this.stored.applyDefaults(object)
  }

  restore(object: KubeObject): KubeObject | undefined {
    const kind = this.#all.get(object.apiVersion as string)
    if (kind === undefined) return undefined
    const before = JSON.stringify(object)
    const read = kind.readStored(object)
    read.metadata.generation ||= 1
    kind.applyDefaults(read)
    const after = JSON.stringify(read)
    // Objects with the same members in another order are equal.
    const isSame = after === before || equalValues(JSON.parse(before), JSON.parse(after))
    return isSame ? undefined : read
  }
}
