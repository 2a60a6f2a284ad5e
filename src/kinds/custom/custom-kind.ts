/**
 * One version of a custom resource definition as a kind: decoding, defaulting and validation. The
 * schema is compiled on first use.
 */
import { servesCbor } from '#codec/media-type.ts'
import type { FieldError } from '#api/field-error.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { compareVersions } from '#api/version-order.ts'
import { pathless } from '#kinds/built-in.ts'
import { checkPlainMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import type {
  Conformed,
  Deprecation,
  Kind,
  Resource,
  ScalePaths,
  ObjectFormat,
  SchemaWrite,
  Subresource,
} from '#kinds/kind.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import type { Type } from '#schema/type.ts'
import { warnsOfDeprecation } from '#kinds/deprecation.ts'
import { customColumns } from './columns.ts'
import { ownedTypeOf } from './owned-type.ts'
import { checkReplicas, checkSelector, scalePathsOf } from './scale.ts'
import type { RuleSettings } from './rules/object-rules.ts'
import { type RuleTimer, untimed } from './rules/rule-timer.ts'
import { CustomSchema } from './schema.ts'
import { markUnread } from './unread.ts'

export interface CustomKindOptions {
  /** The type of metadata. */
  readonly objectMeta: Type
  /** Minor number of the emulated release. */
  readonly release: number
  readonly feature: (gate: string) => boolean
  readonly timed?: RuleTimer | undefined
}

const customFormats: ReadonlySet<ObjectFormat> = new Set(['json', 'yaml'])
const formatsWithCbor: ReadonlySet<ObjectFormat> = new Set([...customFormats, 'cbor'])
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

export class CustomKind implements Kind {
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
  readonly origin = 'custom'
  readonly formats: ReadonlySet<ObjectFormat>
  readonly decoding = 'free'
  readonly itemsCarryType = true
  readonly selfLinks: boolean
  readonly deprecation: Deprecation | undefined
  readonly scale: ScalePaths | undefined
  readonly selectableFields: readonly string[]
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
    options: CustomKindOptions,
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
    this.formats = options.feature(servesCbor) ? formatsWithCbor : customFormats
    this.resource = resource
    this.scale = scalePathsOf(version.subresources?.scale)
    this.selectableFields = options.feature('CustomResourceFieldSelectors')
      ? (version.selectableFields ?? []).map((one: Loose) => one.jsonPath.replace(/^\./, ''))
      : []
    this.#columns = version.additionalPrinterColumns
    const schema: JsonSchema | undefined = version.schema?.openAPIV3Schema ?? undefined
    const keepAll = open || spec.preserveUnknownFields === true
    this.#schema = new CustomSchema(
      schema,
      options.objectMeta,
      keepAll,
      releaseOf(options.release),
      ruleSettings(options),
    )
    this.deprecation =
      version.deprecated === true && releaseOf(options.release).has(warnsOfDeprecation)
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

  /** The schema for OpenAPI. Undefined if it is not structural. */
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

  /**
   * Decodes a stored object. Invalid metadata is dropped, so that clients can read and repair the
   * object.
   */
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

  /** Applies the status default if the object has no status. Other fields are not changed. */
  defaultStatus(object: KubeObject): void {
    if (object.status === undefined && this.#schema.defaultsStatus) this.applyDefaults(object)
  }

  /** The live object without what only other versions have: kube-apiserver prunes what it reads. */
  #asSeen(object: KubeObject): KubeObject {
    const { hub, stored } = this.resource
    if (hub === stored) return object
    return { ...this.read(object), metadata: object.metadata }
  }

  validateSchema(
    given: KubeObject,
    { old, subresource = '', warn = () => {}, metadataErrors = [] }: SchemaWrite = {},
  ): FieldError[] {
    const { scale } = this
    const seen = old && this.#asSeen(old)
    // The status of a new object is ignored. Its status is the one that readers will see in the
    // stored version.
    const statusless = old === undefined && this.subresources.has('status')
    const object = statusless ? withoutStatus(given) : given
    // kube-apiserver checks metadata once more with every update of a custom kind, and reports it
    // once more.
    const errors = old === undefined ? [] : checkPlainMetadataUpdate(object, old)
    const isStatus = subresource === 'status'
    const schema = this.#schema
    const before = schema.correlate(object, seen, isStatus)
    errors.push(...(isStatus ? schema.checkStatus(object, before) : schema.check(object, before)))
    if (scale !== undefined) {
      if (!isStatus) errors.push(...checkReplicas(object, scale.specReplicas))
      errors.push(...checkReplicas(object, scale.statusReplicas))
      if (scale.labelSelector !== undefined)
        errors.push(...checkSelector(object, scale.labelSelector))
    }
    const structure = isStatus
      ? schema.checkStatusStructure(object, old)
      : schema.checkStructure(object, old)
    // Not as arguments of a call: there may be more than it takes.
    const all = [...errors, ...structure]
    const known = [...metadataErrors, ...all]
    return [...all, ...schema.checkRules(object, seen, known, warn, before)]
  }
}

/** Undefined where the release has no validation rules. */
const ruleSettings = ({
  release,
  feature,
  timed = untimed,
}: CustomKindOptions): RuleSettings | undefined =>
  feature('CustomResourceValidationExpressions')
    ? { release: releaseOf(release), ratchets: feature('CRDValidationRatcheting'), timed }
    : undefined

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

/** The warning for a deprecated version without its own text. */
function deprecationText(version: string, spec: Loose): string {
  const name = (one: string) => `${spec.group}/${one} ${spec.names.kind}`
  const better = (spec.versions as Loose[])
    .filter((one) => one.served && !one.deprecated && compareVersions(one.name, version) < 0)
    .map((one): string => one.name)
    .sort(compareVersions)
  const said = `${name(version)} is deprecated`
  return better.length === 0 ? said : `${said}; use ${name(better[0])}`
}

/**
 * The schema a custom kind publishes; undefined for kinds that are not custom, or have none that is
 * structural.
 */
export const publishedSchema = (kind: Kind): JsonSchema | undefined =>
  kind instanceof CustomKind ? kind.structuralSchema : undefined
