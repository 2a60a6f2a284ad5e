/**
 * A kind is a value: everything the rest of the server needs to know of one served version of one
 * resource. Built-in kinds are made from facts (built-in.ts), custom ones from their definitions
 * (custom.ts); code downstream cannot distinguish them.
 *
 * Words: a `Resource` is what is stored and cached once (deployments.apps); a `Kind` is one served
 * version of it. Behaviours run on one version, the `hub` of the resource, whatever version the
 * request speaks:
 *   body ─conform→ requested version ─applyDefaults→ ─convert→ hub ─behaviour→ hub ─convert→
 * stored version → bytes
 * For nearly all kinds requested, hub and stored version are the same kind and convert does
 * nothing.
 */
import type { FieldError } from '#api/field-error.ts'
import type { NameRule } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { ReleaseChange, Release } from '#api/releases/change.ts'
import type { Awaitable } from '#base/awaitable.ts'
import type { Type } from '#schema/type.ts'
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
   * create get list watch update patch delete deletecollection: what discovery shows and route
   * allows.
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
   * `typed`: only declared fields are read, as into a struct of Go. `free`: any field is read, then
   * the schema prunes.
   */
  readonly decoding: 'typed' | 'free'
  /** Whether items of a JSON list carry their own kind and apiVersion (custom kinds). */
  readonly itemsCarryType: boolean
  /** False where the release cannot show it as a table. */
  readonly tables?: boolean
  /** Whether objects carry the path they are read at (releases before 1.20). */
  readonly selfLinks?: boolean
  /** A warning for every request of this version, in the words of the Warning header. */
  readonly deprecation?: Deprecation

  /**
   * From any JSON value to an object of this version in canonical form: unknown fields dropped (and
   * reported), zero values dropped or filled in as Go would write them, quantities and times
   * canonical. Throws ApiError (400) where a value has the wrong type. The result shares nothing
   * with the input that a caller could change later.
   */
  conform(raw: Loose): Conformed
  /**
   * The same for what apply merged, where that is read differently: all of it is kept, to be
   * checked.
   */
  conformMerged?(raw: Loose): Conformed
  /** Fills in this version's defaults, in place. */
  applyDefaults(object: KubeObject): void
  /**
   * Schema rules of custom kinds; nothing for built-in ones, whose rules are their behaviour. On
   * this version.
   */
  validateSchema?(
    object: KubeObject,
    old?: KubeObject,
    subresource?: string,
    warn?: (warning: string) => void,
  ): FieldError[]
  /**
   * Adds what tags on the fields of this version declare to the errors of hand-written rules. On
   * the hub version.
   */
  withDeclared?(write: DeclaredWrite, errors: FieldError[]): FieldError[]
  /** Where replicas are, for kinds whose scale is not at the usual places. */
  readonly scale?: ScalePaths
  /** Which of the resource's selectable fields this version has; by default all of them. */
  readonly selectableFields?: readonly string[]
  /** Columns of this version, from objects of this version; else the behaviour's. */
  readonly columns?: TableColumns
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
   * Paths of unknown fields, for fieldValidation=Warn|Strict: `unknown field "spec.foo"` says what
   * follows "unknown field".
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
  /** The group that validation errors name: not always the one of the path. */
  readonly errorGroup: string
  readonly group: string
  readonly plural: string
  readonly namespaced: boolean
  /**
   * Keys are `<storagePrefix>/<namespace>/<name>`, or `<storagePrefix>/<name>` for cluster-scoped
   * ones; no trailing slash.
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
   * Its definition is on its way out, which may change: nothing new is made, and discovery shows no
   * writing.
   */
  terminating?: boolean
  /** False where the behaviour is known, without being loaded, to have no fields to select by. */
  readonly selectsByFields?: boolean
  /**
   * Objects of one version as another version of the same resource. The results may share structure
   * with the input and the input may be changed. Only conversion webhooks make it wait.
   */
  convert(objects: KubeObject[], from: Kind, to: Kind): Awaitable<KubeObject[]>
  /** A webhook converts: its latest result counts, whatever it returned before. */
  readonly convertsElsewhere?: boolean
  /**
   * The object as one of another version, every field as it is: how owners of its fields see it. A
   * webhook makes it wait; kinds without the method have versions that differ in more than their
   * names.
   */
  renamed?(object: KubeObject, to: Kind): Awaitable<KubeObject>
  /**
   * Two versions that differ in nothing but their name: bytes of one are bytes of the other but for
   * the header.
   */
  sameShape(a: Kind, b: Kind): boolean
  /**
   * Which version the stored bytes have is read from their apiVersion: a store may hold several.
   */
  kindOf(apiVersion: string): Kind | undefined
  /**
   * A stored object as the present definition reads it, where that differs from how it was written:
   * fields may have come or gone since. Undefined: nothing differs.
   */
  restore?(object: KubeObject): KubeObject | undefined
  /**
   * What readers will find of an object that was made to be checked and holds more. Undefined: all
   * of it.
   */
  readBack?(object: KubeObject): KubeObject | undefined
  /**
   * Fills in what readers of the store will find in an object that was converted for it, in place.
   */
  fillStored?(object: KubeObject): void
  /**
   * The revision of the store at which the resource came to be as it is; nothing before is of
   * interest.
   */
  readonly since?: number
}

/** What a behaviour may know besides the object. */
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
  /**
   * The version the request speaks, e.g. 'events.k8s.io/v1': some rules hold for one version only.
   */
  readonly requestApiVersion?: string
  /** Privileged containers are refused where this is false. */
  readonly allowPrivileged?: boolean
  /** Adds to the Warning header, whatever becomes of the request. */
  readonly warn?: (warning: string) => void
}

/**
 * What a row cannot say, one value per resource, on the hub version. All functions are pure but for
 * changing the object they are given to prepare. `old` is never changed. Absent functions mean:
 * nothing to do.
 */
export interface Behaviour {
  /**
   * Problems of a name, in Kubernetes' words; by default the rule for DNS subdomains. `prefix`: it
   * is a generateName.
   */
  readonly nameRule?: NameRule
  /** The same where the names an object may have depend on its content or on the release. */
  nameRuleOf?(object: KubeObject, context: Context): NameRule
  /**
   * Whether an option of declared rules is on whatever its gate says. Undefined: the gate decides.
   */
  declaredOption?(gate: string, old: KubeObject | undefined): boolean | undefined
  /** Problems of metadata are only reported if there are no others. */
  readonly metadataLast?: boolean
  /** The change that made it so, where it is so in older releases alone. */
  readonly metadataLastIn?: ReleaseChange
  /** Why an object of a version cannot become one of the hub version, in Go's words. */
  unconvertible?(object: KubeObject, apiVersion: string): string | undefined
  /**
   * Status reset, generation 1, dropped fields of disabled features. Generic metadata is done by
   * the verbs.
   */
  prepareForCreate?(object: KubeObject, context: Context): void
  /**
   * What a new object lacks when it is checked and shown to webhooks, and has when it is read back:
   * in place.
   */
  readBack?(object: KubeObject): void
  /** Status kept from old, generation raised when the spec changed, and so on. */
  prepareForUpdate?(next: KubeObject, old: KubeObject, context: Context): void
  /** Everything but metadata, which the verbs check by nameRule first. */
  validateCreate?(object: KubeObject, context: Context): FieldError[]
  /**
   * All checks, including metadata's own where kube-apiserver's rules for the kind repeat them
   * (all-kinds/metadata.ts): the verbs add only the checks that every update gets, once.
   */
  validateUpdate?(next: KubeObject, old: KubeObject, context: Context): FieldError[]
  /** Warnings for the Warning header (from the release that has them). */
  warningsOnCreate?(object: KubeObject, context: Context): string[]
  warningsOnUpdate?(next: KubeObject, old: KubeObject, context: Context): string[]
  /** What it takes of a common stock is given out before it is prepared and checked, not after. */
  readonly allocatesFirst?: true
  /** PUT of a missing object creates it. */
  readonly createOnUpdate?: boolean
  /** PUT without a resourceVersion is allowed. True by default. */
  readonly unconditionalUpdate?: boolean
  /**
   * A write's own conditions come after all other checks, none at all is for those of metadata to
   * refuse (services).
   */
  readonly versionCheckedWithMetadata?: boolean
  /** Fields a write to the main resource resets and so never owns, e.g. [['status']]. */
  readonly resetFields?: readonly (readonly string[])[]
  /**
   * Fields usable in field selectors besides metadata.name and metadata.namespace, with their
   * value.
   */
  selectableFields?(object: KubeObject): Record<string, string>
  /** The words for a field selector on a field that is not selectable. */
  unknownFieldText?(field: string): string
  /** Seconds of grace a deletion gets, or undefined when this object is deleted at once. */
  gracePeriodSeconds?(
    object: KubeObject,
    asked: number | bigint | undefined,
    context: Context,
  ): number | bigint | undefined
  /** Objects of this kind are kept only for a time: that of events. */
  readonly expires?: boolean
  readonly subresources?: Readonly<Record<string, SubresourceBehaviour>>
  /**
   * Annotations that stand in for fields: part of whole objects, never of metadata shown alone
   * (tables, partial objects).
   */
  readonly standInAnnotations?: readonly string[]
  readonly columns?: TableColumns
  /** Whether more than its finalizers holds an object that is being deleted. */
  isHeld?(object: KubeObject): boolean
}

/** Paths of fields, e.g. [['status']]. */
export type ResetFields = readonly (readonly string[])[]

/**
 * A subresource that reads and writes the main object's own kind: status, approval,
 * ephemeralcontainers, finalize.
 */
export interface SubresourceBehaviour {
  prepareForUpdate?(next: KubeObject, old: KubeObject, context: Context): void
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
 * The version in which a request works with an object. What only a webhook can convert stays in the
 * version of the request until it is stored.
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
