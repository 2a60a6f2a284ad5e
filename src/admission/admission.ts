/**
 * The contract of admission: it decides about objects, after authorization has decided about users.
 * Plugins run in one fixed order (plugin-registry.ts): all that mutate, then, after validation by
 * schema and behaviour, all that validate. A plugin rejects by throwing an ApiError.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { User } from '#access/user.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface AdmissionRequest {
  readonly operation: Operation
  readonly kind: Kind
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** Whether the URL of the request contains the name. */
  readonly isNamed?: boolean
  /**
   * The object in the hub version of its kind or, for subresources such as Scale, of the
   * subresource's kind. Mutating plugins change it in place.
   */
  object: KubeObject | undefined
  readonly old: KubeObject | undefined
  /**
   * Whether webhooks see the managedFields of the existing object. Most updates have removed them
   * already.
   */
  readonly showsOldOwners?: boolean
  readonly user: User
  readonly dryRun: boolean
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions as sent. */
  readonly options: Loose
  /** Texts for the Warning header. */
  readonly warnings: string[]
  /** Annotations for the audit event. */
  readonly auditAnnotations: Map<string, string>
  /** When the client's deadline is, by performance.now(), if it has one. */
  readonly deadlineAt?: number | undefined
  /** Set by a mutating webhook that changed the object: every mutating plugin runs once more. */
  reinvoke?: boolean
  /** 1 while they do; 0 or absent before. */
  round?: number
}

export interface AdmissionPlugin {
  readonly name: string
  /** Plurals of the resources for which the plugin is called. Absent: all resources. */
  readonly plurals?: readonly string[]
  /** Whether the plugin calls other processes, which takes time and may fail. */
  asksOthers?(): boolean
  /** Called once before the first request, to watch objects and open resources. */
  start?(reader: ObjectReader): Promise<void>
  mutate?(request: AdmissionRequest, reader: ObjectReader): void | Promise<void>
  validate?(request: AdmissionRequest, reader: ObjectReader): void | Promise<void>
  /**
   * Called right before a new object is stored, if other processes were called. The condition that
   * admitted the object may have changed meanwhile.
   */
  recheck?(request: AdmissionRequest, reader: ObjectReader): void | Promise<void>
}
