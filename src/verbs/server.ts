/**
 * The dependencies of every verb: the store, the watch cache, the kinds and the plugins. Verbs know
 * nothing about HTTP.
 */
import type { TokenMint } from '#access/authenticate/service-account-token.ts'
import type { Authorizer, RuleResolver } from '#access/authorize.ts'
import type { TokenRequestSettings } from '#access/token-request.ts'
import type { TokenReviewer } from '#access/token-review.ts'
import type { User } from '#access/user.ts'
import type { AdmissionChain } from '#admission/chain.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Clock } from '#base/clock.ts'
import { flatText } from '#base/flat-text.ts'
import type { Catalog } from '#kinds/catalog.ts'
import type { Context, Kind, Resource } from '#kinds/kind.ts'
import type { RuleTimer } from '#kinds/custom/rules/rule-timer.ts'
import type { KnownTypes } from '#kinds/known-type.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { type KeyRange, prefixRange, type Storage } from '#storage/storage.ts'
import type { ParseStored } from '#watchcache/entry.ts'
import type { WatchCache } from '#watchcache/watch-cache.ts'
import type { Allocators } from './allocate.ts'

export interface Server extends KnownTypes {
  readonly catalog: Catalog
  readonly storage: Storage
  readonly cache: WatchCache
  readonly reader: ObjectReader
  readonly admission: AdmissionChain
  readonly allocators: Allocators
  readonly access: ServerAccess
  readonly clock: Clock
  readonly release: number
  readonly feature: (gate: string) => boolean
  readonly parseStored: ParseStored
  readonly newUid: () => string
  /** The five random characters of generateName. */
  readonly randomSuffix: () => string
  /** Whether objects are stored as protobuf, for kinds that have a protobuf form. */
  readonly storesProtobuf: boolean
  /** Whether the watch cache serves reads. If not, it serves only reads at any version. */
  readonly readsFromMemory: (resource: Resource) => boolean
  /** Whether pods may have privileged containers. */
  readonly allowPrivileged: boolean
  /** The lifetime of events. */
  readonly eventTtlSeconds: number
  /**
   * Whether the cluster has no garbage collector that would remove its finalizers; then none are
   * added.
   */
  readonly leavesGarbage?: boolean
  /** Called after each write to the status subresource, with the new and the old object. */
  readonly statusWritten?: (kind: Kind, next: KubeObject, old: KubeObject) => void
  /** Called with the unknown fields of a body, which are dropped. */
  readonly fieldsDropped?: (kind: Kind, paths: readonly string[]) => void
  /** Measures the compilation and evaluation of validation rules. */
  readonly timed?: RuleTimer | undefined
  /** The number of concurrent deletions of deletecollection; if unset, the default. */
  readonly deletionsAtOnce?: number
}

/** Access control as verbs use it: reviews and tokens. */
export interface ServerAccess extends TokenReviewer {
  readonly authorizer: Authorizer
  readonly rules: RuleResolver
  readonly mint: TokenMint | undefined
  readonly tokenRequests: TokenRequestSettings
}

/** The object or collection of a request. */
export interface Target {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  readonly subresource: string
}

/** The parts of every write request. */
export interface WriteRequest {
  readonly target: Target
  readonly user: User
  /** The decoded body as a JSON value; throws ApiError. */
  readonly body: () => unknown
  /**
   * The JSON text of the body, for details that the decoded value has lost; undefined for protobuf.
   */
  readonly text?: () => Buffer | undefined
  /** Whether the body is YAML. */
  readonly isYaml?: boolean
  /** Messages for the duplicate keys of a YAML body, each with its line. */
  readonly repeatedKeys?: () => string[]
  /** Faults that the decoder of the media type itself finds under strict validation. */
  readonly strictFaults?: () => readonly string[] | undefined
  readonly options: WriteOptions
  /** Texts for the Warning header, in order. */
  readonly warnings: string[]
  readonly auditAnnotations: Map<string, string>
  /** The client's deadline by performance.now(), if there is one. Work after it is useless. */
  readonly deadlineAt?: number | undefined
  /** Called before an update that has to create its object, to check the permission to create. */
  readonly authorizeCreate?: () => void | Promise<void>
}

export interface PatchRequest extends WriteRequest {
  readonly patchType: 'json' | 'merge' | 'strategic' | 'apply'
  readonly patchBytes: Buffer
}

export interface WriteOptions {
  readonly dryRun: boolean
  /**
   * The manager that owns the written fields: the fieldManager parameter, otherwise the user agent.
   */
  readonly fieldManager: string
  /** The fieldManager parameter as sent; plugins and webhooks see it. */
  readonly requestedFieldManager?: string
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  readonly force: boolean
}

export function contextOf(server: Server, request: WriteRequest): Context {
  return {
    release: server.release,
    feature: server.feature,
    now: timestamp(server.clock),
    namespace: request.target.namespace,
    userName: request.user.name,
    user: request.user,
    dryRun: request.options.dryRun,
    allowPrivileged: server.allowPrivileged,
    timed: server.timed,
    requestApiVersion: request.target.kind.apiVersion,
    warn: (warning) => request.warnings.push(warning),
  }
}

let second = Number.NaN
let secondText = ''

/** RFC 3339, whole seconds, UTC. The text is cached because each write needs it several times. */
export function timestamp(clock: Clock): string {
  const now = Math.floor(clock.now() / 1000)
  if (now !== second) {
    second = now
    secondText = flatText(`${new Date(now * 1000).toISOString().slice(0, 19)}Z`)
  }
  return secondText
}

export function keyOf(kind: Kind, namespace: string, name: string): string {
  const { storagePrefix } = kind.resource
  return kind.namespaced ? `${storagePrefix}/${namespace}/${name}` : `${storagePrefix}/${name}`
}

/** The key range of a kind's objects in a namespace, or of all its objects. */
export function keysOf({ resource, namespaced }: Kind, namespace: string): KeyRange {
  const { storagePrefix } = resource
  return prefixRange(
    namespaced && namespace !== '' ? `${storagePrefix}/${namespace}/` : `${storagePrefix}/`,
  )
}

export const nameOf = (object: KubeObject): string => object.metadata.name ?? ''
