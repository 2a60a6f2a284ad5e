/**
 * The metadata of every object, and the type of all objects in this server: plain JSON values.
 * Quantities and times are canonical strings, and bytes are base64 strings.
 */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

// biome-ignore lint/suspicious/noExplicitAny: the shape of an object is known by its kind's type graph, not by the compiler
export type Loose = { [key: string]: any }

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  time?: string
  fieldsType?: string
  fieldsV1?: Loose
  subresource?: string
}

export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  selfLink?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string | null
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number | bigint
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  clusterName?: string
  managedFields?: ManagedFieldsEntry[]
}

export interface KubeObject extends Loose {
  kind?: string
  apiVersion?: string
  metadata: ObjectMeta
}
