/**
 * A kind is a value with everything that the server needs to know about one served version of a
 * resource. Built-in kinds are created from facts (built-in.ts), custom kinds from their
 * definitions (custom.ts). Other code cannot distinguish them.
 *
 * Terms: a `Resource` is stored and cached once (deployments.apps); a `Kind` is one served version
 * of it. Behaviours run on one version, the `hub` of the resource, whatever version a request uses:
 *   body ─conform→ requested version ─applyDefaults→ ─convert→ hub ─behaviour→ hub ─convert→
 * stored version → bytes
 * For nearly all kinds the requested, hub and stored version are the same, and convert does
 * nothing.
 */
import type { FieldError } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { NameRule } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { ReleaseChange, Release } from '#api/releases/change.ts'
import type { Awaitable } from '#base/awaitable.ts'
import type { Type } from '#schema/type.ts'
import type { RuleTimer } from './custom/rules/rule-timer.ts'
import type { TableColumns } from './table-columns.ts'

export type ObjectFormat = 'json' | 'yaml' | 'protobuf' | 'cbor'

export interface Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** 'v1' for the core group, 'apps/v1' for a named one. */
  readonly apiVersion: string
  /**
   * create get list watch update patch delete deletecollection: discovery shows them and the router
   * allows them.
   */
  readonly verbs: ReadonlySet<string>
  readonly subresources: ReadonlyMap<string, Subresource>
  readonly resource: Resource
  /** The type of a whole object of this version. */
  readonly type: Type
  /** The type by which its fields are owned, where that is another. */
  readonly ownedType?: Type
  /**
   * Which of kube-apiserver's two handlers serves it: they differ in routes, errors and discovery.
   */
  readonly origin: 'built-in' | 'custom'
  /** The formats that can carry an object. */
  readonly formats: ReadonlySet<ObjectFormat>
  /**
   * `typed`: only declared fields are decoded, as into a Go struct. `free`: all fields are decoded,
   * then pruned by the schema.
   */
  readonly decoding: 'typed' | 'free'
  /** Whether items of a JSON list have their own kind and apiVersion, as custom kinds do. */
  readonly itemsCarryType: boolean
  /** False if the release cannot show the kind as a table. */
  readonly tables?: boolean
  /** Whether objects have metadata.selfLink (releases before 1.20). */
  readonly selfLinks?: boolean
  /** The Warning header for requests of a deprecated version. */
  readonly deprecation?: Deprecation

  /**
   * Converts any JSON value to an object of this version in canonical form. Unknown fields are
   * dropped and reported; zero values are dropped or filled in as Go would write them; quantities
   * and times are normalised. Throws ApiError (400) for a value of the wrong type. The result
   * shares no mutable data with the input.
   */
  conform(raw: Loose): Conformed
  /**
   * Like `conform`, for the result of an apply, if that is decoded differently: all fields are kept
   * for validation.
   */
  conformMerged?(raw: Loose): Conformed
  /** Fills in this version's defaults, in place. */
  applyDefaults(object: KubeObject): void
  /**
   * Validates an object of this version against the schema of a custom kind. Built-in kinds use
   * their behaviour instead.
   */
  validateSchema?(object: KubeObject, write?: SchemaWrite): FieldError[]
  /**
   * Adds the errors of declarative rules on the fields of this version to those of hand-written
   * rules. It takes the hub version.
   */
  withDeclared?(write: DeclaredWrite, errors: FieldError[]): FieldError[]
  /** The field paths of replicas, for kinds whose scale has unusual paths. */
  readonly scale?: ScalePaths
  /** The selectable fields of the resource that this version has. Default: all. */
  readonly selectableFields?: readonly string[]
  /** The columns of this version. Default: those of the behaviour. */
  readonly columns?: TableColumns
}

/** A write as the schema of a custom kind sees it. */
export interface SchemaWrite {
  /** Absent where the request creates the object. */
  readonly old?: KubeObject
  readonly subresource?: string
  readonly warn?: (warning: string) => void
  /** The errors of a new object's metadata: some keep validation rules from running. */
  readonly metadataErrors?: readonly FieldError[]
}

/** A write as declared rules see it. `old` is absent where the request creates the object. */
export interface DeclaredWrite {
  readonly next: KubeObject
  readonly old?: KubeObject
  readonly subresource: string
  readonly feature: (gate: string) => boolean
}

/** Steps to the values a Scale shows. */
export interface ScalePaths {
  readonly specReplicas: readonly string[]
  readonly statusReplicas: readonly string[]
  readonly labelSelector?: readonly string[]
}

export interface Conformed {
  object: KubeObject
  /**
   * Paths of unknown fields, for fieldValidation Warn and Strict. Each is the text after `unknown
   * field`.
   */
  unknown: string[]
}

export interface Deprecation {
  /**
   * e.g. `batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1
   * CronJob`
   */
  readonly warning: string
  /** '1.25', or '' where no removal is planned. */
  readonly removedRelease: string
}

export interface Subresource {
  readonly name: string
  /** The kind its bodies have: 'autoscaling/v1' 'Scale' for deployments/scale. */
  readonly apiVersion: string
  readonly kind: string
  readonly verbs: ReadonlySet<string>
}

export interface Resource {
  /** The group in validation errors, which may differ from the group of the resource. */
  readonly errorGroup: string
  readonly group: string
  readonly plural: string
  readonly namespaced: boolean
  /**
   * Keys are `<storagePrefix>/<namespace>/<name>`, or `<storagePrefix>/<name>` for cluster-scoped
   * resources. No trailing slash.
   */
  readonly storagePrefix: string
  /** Every served version, the preferred one first. */
  readonly kinds: readonly Kind[]
  /** The version that is written to the store. */
  readonly stored: Kind
  /** The version behaviours run on. */
  readonly hub: Kind
  readonly behaviour: Behaviour
  /**
   * The definition is being deleted: new objects are rejected, and discovery omits the write verbs.
   * The value can change.
   */
  terminating?: boolean
  /** False if the behaviour is known to have no selectable fields, so it need not be loaded. */
  readonly selectsByFields?: boolean
  /**
   * Converts objects from one version to another. The results may share structure with the input,
   * and the input may be changed. Only conversion webhooks make it asynchronous.
   */
  convert(objects: KubeObject[], from: Kind, to: Kind): Awaitable<KubeObject[]>
  /** Whether a webhook converts. Its results are never cached. */
  readonly convertsElsewhere?: boolean
  /**
   * The object with the apiVersion of another version and unchanged fields, for managedFields.
   * Asynchronous with a conversion webhook. Kinds without this method have versions that differ in
   * more than their names.
   */
  renamed?(object: KubeObject, to: Kind): Awaitable<KubeObject>
  /**
   * Whether two versions differ only in their name, so that their bytes differ only in the
   * apiVersion.
   */
  sameShape(a: Kind, b: Kind): boolean
  /** The version of stored bytes by their apiVersion. A store may contain several versions. */
  kindOf(apiVersion: string): Kind | undefined
  /**
   * A stored object as the current definition reads it: fields may have been added or removed since
   * it was written. Undefined if nothing differs.
   */
  restore?(object: KubeObject): KubeObject | undefined
  /**
   * The object as it will be read from the store. The validated object may have more fields.
   * Undefined if nothing differs.
   */
  readBack?(object: KubeObject): KubeObject | undefined
  /**
   * Applies, in place, the defaults of the stored version to an object that was converted for the
   * store.
   */
  fillStored?(object: KubeObject): void
  /**
   * The revision of the store at which the resource came to be as it is; nothing before is of
   * interest.
   */
  readonly since?: number
}

/** The context of a behaviour besides the object. */
export interface Context {
  /** Minor number of the emulated release: 22. */
  readonly release: number
  readonly feature: (gate: string) => boolean
  /** RFC 3339, whole seconds. */
  readonly now: string
  readonly namespace: string
  readonly userName?: string
  /** All that is known of the user. */
  readonly user?: {
    readonly name: string
    readonly uid: string
    readonly groups: readonly string[]
    readonly extra: Readonly<Record<string, readonly string[]>>
  }
  readonly dryRun?: boolean
  /** The requested version, such as 'events.k8s.io/v1'. Some rules apply to one version only. */
  readonly requestApiVersion?: string
  /** If false, privileged containers are rejected. */
  readonly allowPrivileged?: boolean
  /** Adds a Warning header, even if the request fails later. */
  readonly warn?: (warning: string) => void
  /** Measures the compilation and evaluation of validation rules. */
  readonly timed?: RuleTimer | undefined
  /** The errors of the required rights that the user lacks. */
  readonly refusedRights?: readonly FieldError[]
}

/** A permission for a field that a write changes, on a subresource that only authorizers know. */
export interface RequiredRight {
  readonly path: FieldPath
  readonly subresource: string
  /** Whether the permission is for the namespace of the object. If not, it is for all. */
  readonly isNamespaced: boolean
  readonly name: string
  /** The verb of the request with one of these prefixes is enough. */
  readonly verbPrefixes: readonly string[]
  detail(verbs: readonly string[]): string
}

/**
 * The rules of a resource that facts cannot express, on the hub version. All functions are pure,
 * except that the prepare functions change their object. They never change `old`. An absent
 * function does nothing.
 */
export interface Behaviour {
  /**
   * Validates a name, with Kubernetes' messages. Default: the DNS subdomain rule. `prefix` is true
   * for a generateName.
   */
  readonly nameRule?: NameRule
  /** Like nameRule, for kinds whose naming rule depends on the object or the release. */
  nameRuleOf?(object: KubeObject, context: Context): NameRule
  /**
   * Overrides the feature gate of an option of declarative validation. Undefined: the gate decides.
   */
  declaredOption?(gate: string, old: KubeObject | undefined): boolean | undefined
  /** Metadata errors are only reported if there are no other errors. */
  readonly metadataLast?: boolean
  /** The same for older releases only, up to this change. */
  readonly metadataLastIn?: ReleaseChange
  /** Go's error if an object cannot be converted to the hub version. */
  conversionError?(object: KubeObject, apiVersion: string): string | undefined
  /**
   * Resets the status, sets generation 1 and drops fields of disabled features. The verbs handle
   * generic metadata.
   */
  prepareForCreate?(object: KubeObject, context: Context): void
  /**
   * Completes a new object, in place, with fields that readers see but validation and webhooks do
   * not.
   */
  readBack?(object: KubeObject): void
  /** Keeps the old status, raises the generation if the spec changed, and so on. */
  prepareForUpdate?(next: KubeObject, old: KubeObject, context: Context): void
  /** The check of a new object against its namespace. */
  readonly namespaceRule?: NamespaceRule
  /** Validates everything except metadata, which the verbs validate first. */
  validateCreate?(object: KubeObject, context: Context): FieldError[]
  /**
   * Validates everything. Includes metadata if kube-apiserver's validation of the kind repeats it
   * (all-kinds/metadata.ts). The verbs add only the generic update checks.
   */
  validateUpdate?(next: KubeObject, old: KubeObject, context: Context): FieldError[]
  /** Warnings for the Warning header (from the release that has them). */
  warningsOnCreate?(object: KubeObject, context: Context): string[]
  warningsOnUpdate?(next: KubeObject, old: KubeObject, context: Context): string[]
  /**
   * Shared resources such as IP addresses are allocated before preparation and validation, not
   * after.
   */
  readonly allocatesFirst?: true
  /** PUT of a missing object creates it. */
  readonly createOnUpdate?: boolean
  /** PUT without a resourceVersion is allowed. True by default. */
  readonly unconditionalUpdate?: boolean
  /**
   * A resourceVersion conflict is reported after all other checks, and metadata validation rejects
   * a missing resourceVersion (services).
   */
  readonly versionCheckedWithMetadata?: boolean
  /**
   * Fields that a write to the main resource resets, so the writer never owns them, e.g.
   * [['status']].
   */
  readonly resetFields?: readonly (readonly string[])[]
  /** Values of the selectable fields besides metadata.name and metadata.namespace. */
  selectableFields?(object: KubeObject): Record<string, string>
  /** False if a namespaced kind has no field selector for metadata.namespace. */
  readonly selectsNamespace?: boolean
  /** The error for a field selector with a field that is not selectable. */
  unknownFieldText?(field: string): string
  /** The grace period of a deletion in seconds. Undefined: delete the object at once. */
  gracePeriodSeconds?(
    object: KubeObject,
    asked: number | bigint | undefined,
    context: Context,
  ): number | bigint | undefined
  /** Whether objects expire after --event-ttl. */
  readonly expires?: boolean
  readonly subresources?: Readonly<Record<string, SubresourceBehaviour>>
  /**
   * Annotations that represent fields of other versions. They appear in whole objects, but not in
   * tables and partial object metadata.
   */
  readonly conversionAnnotations?: readonly string[]
  readonly columns?: TableColumns
  /** Whether something besides finalizers delays the deletion of an object. */
  isHeld?(object: KubeObject): boolean
}

/**
 * A check of an object against the namespace that contains it. Its errors precede all others. The
 * verb reads the namespace only if the rule returns a check for the object; the check gets
 * undefined if there is no such namespace.
 */
export type NamespaceRule = (
  next: KubeObject,
  old: KubeObject | undefined,
  context: Context,
) => ((namespace: KubeObject | undefined) => FieldError[]) | undefined

/** Paths of fields, e.g. [['status']]. */
export type ResetFields = readonly (readonly string[])[]

/**
 * A subresource that reads and writes the main object's own kind: status, approval,
 * ephemeralcontainers, finalize.
 */
export interface SubresourceBehaviour {
  prepareForUpdate?(next: KubeObject, old: KubeObject, context: Context): void
  readonly namespaceRule?: NamespaceRule
  /** What validateUpdate needs as `refusedRights`. */
  rights?(next: KubeObject, old: KubeObject, context: Context): readonly RequiredRight[]
  validateUpdate?(next: KubeObject, old: KubeObject, context: Context): FieldError[]
  warningsOnUpdate?(next: KubeObject, old: KubeObject, context: Context): string[]
  readonly resetFields?: ResetFields | ((release: Release) => ResetFields)
  /**
   * PUT of a missing object creates it; PUT of a missing status too, where kube-apiserver does not
   * forbid it.
   */
  readonly createOnUpdate?: boolean
}

/**
 * The version in which a request processes an object. With a conversion webhook this is the
 * requested version until the object is stored.
 */
export const hubOf = (kind: Kind): Kind =>
  kind.resource.convertsElsewhere ? kind : kind.resource.hub

/**
 * The rules of a write: a scale is a write to the main resource, other subresources have their own
 * or none.
 */
export function rulesFor(
  { resource: { behaviour } }: Kind,
  subresource: string,
): SubresourceBehaviour | undefined {
  if (subresource === '' || subresource === 'scale') return behaviour
  return behaviour.subresources?.[subresource]
}
