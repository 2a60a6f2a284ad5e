/**
 * One object in the watch cache: its bytes and the fields that selectors read. The decoded object
 * is not kept, so a hundred thousand entries need only their bytes and this small record.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { CutObject } from '#codec/cut-object.ts'
import type { Revision } from '#storage/storage.ts'

export interface Entry {
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly revision: Revision
  readonly cut: CutObject
  /** The version of the bytes. */
  readonly apiVersion: string
  readonly labels: Readonly<Record<string, string>> | undefined
  /** Values of the kind's selectable fields, in the order of `SelectableFields.names`. */
  readonly fields: readonly string[] | undefined
}

/**
 * Decodes stored bytes to an object of the stored version. Recognises JSON and protobuf by the
 * first bytes.
 */
export type ParseStored = (bytes: Buffer) => KubeObject
