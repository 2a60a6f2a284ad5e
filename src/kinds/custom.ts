/**
 * From definitions to kinds: a CustomResourceDefinition becomes a resource and a kind for each version it serves, and
 * nothing that uses them can tell them from built-in ones. What a kind needs of its schema is compiled on first use.
 */
import type { FieldError } from '#api/field-error.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { compareVersions } from '#api/version-order.ts'
import { equalValues } from '#patch/json-map.ts'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import type { Type } from '#schema/type.ts'
import { pathless } from './built-in.ts'
import { checkPlainMetadataUpdate } from './behaviour/metadata.ts'
import { customBehaviour } from './custom/behaviour.ts'
import { customColumns } from './custom/columns.ts'
import { ownedTypeOf } from './custom/owned-type.ts'
import { checkReplicas, checkSelector, scalePathsOf } from './custom/scale.ts'
import { CustomSchema } from './custom/schema.ts'
import { isUnread, markUnread, putBack } from './custom/unread.ts'
import type {
  Behaviour,
  Conformed,
  Deprecation,
  Kind,
  Resource,
  ScalePaths,
  Subresource,
} from './kind.ts'
import type { TableColumns } from './table-columns.ts'

/** Objects of one version as another one, by whoever the definition names. */
export type ConvertElsewhere = (
  definition: KubeObject,
  objects: KubeObject[],
  desiredApiVersion: string,
) => Promise<KubeObject[]>

export interface CustomOptions {
  /** '/registry', or what --etcd-prefix says. */
  readonly root: string
  /** The type of metadata. */
  readonly objectMeta: Type
  /** Minor number of the emulated release: warnings exist from 19 on. */
  readonly release: number
  readonly feature: (gate: string) => boolean
  readonly convertElsewhere: ConvertElsewhere
}

const mainVerbs = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
]
const mainVerbSet: ReadonlySet<string> = new Set(mainVerbs)
const subresourceVerbs = new Set(['get', 'patch', 'update'])
const firstReleaseWithWarnings = 19

/** `definition` in its stable version; it is kept and never changed. */
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
      anyStatus: all.some((kind) => kind.subresources.has('status')),
      defaultStatus: (object) => {
        // What a webhook converts is in the version of the request, and the default in that of the store.
        const isOther = this.convertsElsewhere && object.apiVersion !== this.stored.apiVersion
        if (!isOther) this.stored.defaultStatus(object)
      },
      seenAs: (object, apiVersion) => this.#seenAs(object, apiVersion),
    })
  }

  /** Behaviours run on the stored version. Where versions differ, nothing may be lost on the way there. */
  #hubFor(versions: Loose[]): CustomKind {
    if (versions.length < 2 || this.convertsElsewhere) return this.stored
    const stored = versions.find(({ storage }) => storage === true) ?? versions[0]
    const open = { ...stored, schema: undefined }
    return new CustomKind(this.#definition, open, this, this.#options, true)
  }

  /** Who writes in one version has read the object in it, and with it lost what only others know. */
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

  /** What a webhook told of an object. What is stored is read from the store, with its defaults. */
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
    // What was stored as another version has that one's defaults, and none of these.
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
    // The same members in another order are the same object.
    const isSame = after === before || equalValues(JSON.parse(before), JSON.parse(after))
    return isSame ? undefined : read
  }
}

class CustomKind implements Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  readonly apiVersion: string
  readonly verbs: ReadonlySet<string> = mainVerbSet
  readonly subresources: ReadonlyMap<string, Subresource>
  readonly resource: Resource
  readonly protobuf = false
  readonly itemsCarryType = true
  readonly selfLinks: boolean
  readonly deprecation: Deprecation | undefined
  readonly scale: ScalePaths | undefined
  readonly #schema: CustomSchema
  readonly #columns: readonly Loose[] | undefined
  readonly #definition: KubeObject
  readonly #release: number
  #made: TableColumns | undefined
  #text: string | undefined

  /** `open`: nothing is dropped, whatever the schema. */
  constructor(
    definition: KubeObject,
    version: Loose,
    resource: Resource,
    options: CustomOptions,
    open = false,
  ) {
    const { spec, status } = definition
    const names = status.acceptedNames
    this.#definition = definition
    this.#release = options.release
    this.group = spec.group
    this.version = version.name
    this.apiVersion = `${this.group}/${this.version}`
    this.kind = names.kind
    this.listKind = names.listKind ?? ''
    this.plural = names.plural
    this.singular = names.singular ?? ''
    this.shortNames = names.shortNames ?? []
    this.categories = names.categories ?? []
    this.namespaced = spec.scope === 'Namespaced'
    this.subresources = subresourcesOf(version.subresources, this)
    this.selfLinks = !options.feature(pathless)
    this.resource = resource
    this.scale = scalePathsOf(version.subresources?.scale)
    this.#columns = version.additionalPrinterColumns
    const schema: JsonSchema | undefined = version.schema?.openAPIV3Schema ?? undefined
    const keepAll = open || spec.preserveUnknownFields === true
    this.#schema = new CustomSchema(schema, options.objectMeta, keepAll, options.release)
    this.deprecation =
      version.deprecated === true && options.release >= firstReleaseWithWarnings
        ? {
            warning: version.deprecationWarning ?? deprecationText(version.name, spec),
            removedRelease: '',
          }
        : undefined
  }

  get type(): Type {
    return this.#schema.type
  }

  get ownedType(): Type | undefined {
    return ownedTypeOf(this.#definition, this.#release)
  }

  get columns(): TableColumns {
    this.#made ??= customColumns(this.#columns)
    return this.#made
  }

  /** The schema as it is given, where it is structural: what OpenAPI publishes. */
  get structuralSchema(): JsonSchema | undefined {
    return this.#schema.structural
  }

  /** The schema as text, to see whether two versions are alike. */
  schemaText(): string {
    this.#text ??= JSON.stringify(this.#schema.given ?? null)
    return this.#text
  }

  conform(raw: Loose): Conformed {
    try {
      return { object: this.read(raw as KubeObject), unknown: [] }
    } catch (error) {
      throw this.#schema.asUnreadable(error, raw, this.kind, this.version)
    }
  }

  conformMerged(raw: Loose): Conformed {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...body } = raw
    const object = {
      kind: this.kind,
      apiVersion: this.apiVersion,
      metadata: this.#schema.readableMetadata((metadata ?? {}) as Loose),
      ...body,
    }
    return { object: markUnread(object), unknown: [] }
  }

  read(raw: Loose): KubeObject {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...body } = raw
    return {
      kind: this.kind,
      apiVersion: this.apiVersion,
      metadata: this.#schema.readMetadata((metadata ?? {}) as Json),
      ...this.#schema.prune(body),
    }
  }

  /** What is in the store: what is wrong in metadata is left out, so that it can be read and mended. */
  readStored(raw: Loose): KubeObject {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...body } = raw
    return {
      kind: this.kind,
      apiVersion: this.apiVersion,
      metadata: this.#schema.readableMetadata((metadata ?? {}) as Loose),
      ...this.#schema.pruneReadable(body),
    }
  }

  applyDefaults(object: KubeObject): void {
    this.#schema.fillDefaults(object)
  }

  /** Where there is no status, its default; nothing else is looked at. */
  defaultStatus(object: KubeObject): void {
    if (object.status === undefined && this.#schema.defaultsStatus) this.applyDefaults(object)
  }

  validateSchema(given: KubeObject, old?: KubeObject, subresource = ''): FieldError[] {
    const { scale } = this
    // A new object has no status of its own yet: what is there is what a reader will find, in the stored version.
    const statusless = old === undefined && this.subresources.has('status')
    const object = statusless ? withoutStatus(given) : given
    // The original checks metadata once more with every update of a custom kind, and says it once more.
    const errors = old === undefined ? [] : checkPlainMetadataUpdate(object, old)
    errors.push(...this.#schema.check(object))
    if (scale !== undefined) {
      if (subresource !== 'status') errors.push(...checkReplicas(object, scale.specReplicas))
      errors.push(...checkReplicas(object, scale.statusReplicas))
      if (scale.labelSelector !== undefined)
        errors.push(...checkSelector(object, scale.labelSelector))
    }
    if (subresource === 'status') return errors
    // Not as arguments of a call: there may be more than it takes.
    return [...errors, ...this.#schema.checkStructure(object, old)]
  }
}

function withoutStatus({ status: _, ...object }: KubeObject): KubeObject {
  return object
}

function subresourcesOf(given: Loose | null | undefined, kind: Kind): Map<string, Subresource> {
  const made = new Map<string, Subresource>()
  const { apiVersion } = kind
  if (given?.status) {
    made.set('status', { name: 'status', apiVersion, kind: kind.kind, verbs: subresourceVerbs })
  }
  if (given?.scale) {
    const scale = {
      name: 'scale',
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      verbs: subresourceVerbs,
    }
    made.set('scale', scale)
  }
  return made
}

/** What is said of a deprecated version that has no words of its own. */
function deprecationText(version: string, spec: Loose): string {
  const name = (one: string) => `${spec.group}/${one} ${spec.names.kind}`
  const better = (spec.versions as Loose[])
    .filter((one) => one.served && !one.deprecated && compareVersions(one.name, version) < 0)
    .map((one): string => one.name)
    .sort(compareVersions)
  const said = `${name(version)} is deprecated`
  return better.length === 0 ? said : `${said}; use ${name(better[0])}`
}

/** The schema a custom kind publishes; undefined for kinds that are not custom, or have none that is structural. */
export const publishedSchema = (kind: Kind): JsonSchema | undefined =>
  kind instanceof CustomKind ? kind.structuralSchema : undefined
