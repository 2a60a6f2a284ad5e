/**
 * What every verb may reach: the store, the live picture, the kinds and the plugins. Verbs know
 * nothing of HTTP.
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
  /** Five characters for generateName. */
  readonly randomSuffix: () => string
  /** Whether objects are written to the store as protobuf, where their kind has that form. */
  readonly storesProtobuf: boolean
  /**
   * Whether reads are answered from memory; else from the store, but for those that take any
   * version.
   */
  readonly readsFromMemory: (resource: Resource) => boolean
  /** Whether pods may have privileged containers. */
  readonly allowPrivileged: boolean
  /** How long events are kept, in seconds. */
  readonly eventTtlSeconds: number
  /**
   * Whether no controller would remove the finalizers of garbage collection: then none are added.
   */
  readonly leavesGarbage?: boolean
  /** Called for every written status, with the object as it is and as it was. */
  readonly statusWritten?: (kind: Kind, next: KubeObject, old: KubeObject) => void
  /** Called with the fields of a body that the release does not declare, which are dropped. */
  readonly fieldsDropped?: (kind: Kind, paths: readonly string[]) => void
  /** How many objects of a collection are deleted at once; what is best where unset. */
  readonly deletionsAtOnce?: number
}

/** What verbs need of access: reviews, and tokens. */
export interface ServerAccess extends TokenReviewer {
  readonly authorizer: Authorizer
  readonly rules: RuleResolver
  readonly mint: TokenMint | undefined
  readonly tokenRequests: TokenRequestSettings
}

/** What a request is about. */
export interface Target {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  readonly subresource: string
}

/** What every write carries besides its body. */
export interface WriteRequest {
  readonly target: Target
  readonly user: User
  /** The body as JSON value, decoded by its media type; throws ApiError. */
  readonly body: () => unknown
  /**
   * The body as the JSON text it was read from, for details that its value has lost; undefined for
   * protobuf.
   */
  readonly text?: () => Buffer | undefined
  /** Whether the body is YAML. */
  readonly isYaml?: boolean
  /** What a YAML body says twice, each with its line. */
  readonly repeatedLines?: () => string[]
  /** What strict reading reports, where the format itself finds that out. */
  readonly strictFaults?: () => readonly string[] | undefined
  readonly options: WriteOptions
  /** Texts for the Warning header, in order. */
  readonly warnings: string[]
  readonly auditAnnotations: Map<string, string>
  /** The client's deadline, by performance.now(), if it has one: later work is useless. */
  readonly deadlineAt?: number | undefined
  /** Called before an update that turns out to create: the caller may need the right to create. */
  readonly authorizeCreate?: () => void | Promise<void>
}

export interface PatchRequest extends WriteRequest {
  readonly patchType: 'json' | 'merge' | 'strategic' | 'apply'
  readonly patchBytes: Buffer
}

export interface WriteOptions {
  readonly dryRun: boolean
  /** The manager that owns the fields: the requested fieldManager, else from the user agent. */
  readonly fieldManager: string
  /** The fieldManager parameter as given; plugins and webhooks see it. */
  readonly fieldManagerAsked?: string
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
    requestApiVersion: request.target.kind.apiVersion,
    warn: (warning) => request.warnings.push(warning),
  }
}

let second = Number.NaN
let secondText = ''

/**
 * RFC 3339, whole seconds, UTC. Every write calls it several times, and a second has many writes.
 */
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

/**
 * Where the objects of a kind are among the keys: those of a namespace, or all if the kind or the
 * request has none.
 */
export function keysOf({ resource, namespaced }: Kind, namespace: string): KeyRange {
  const { storagePrefix } = resource
  return prefixRange(
    namespaced && namespace !== '' ? `${storagePrefix}/${namespace}/` : `${storagePrefix}/`,
  )
}

export const nameOf = (object: KubeObject): string => object.metadata.name ?? ''
