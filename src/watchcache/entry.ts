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
  /** The version the bytes are in. */
  readonly apiVersion: string
  readonly labels: Readonly<Record<string, string>> | undefined
  /** Values of the kind's selectable fields, in the order of `SelectableFields.names`. */
  readonly fields: readonly string[] | undefined
}

/**
 * From stored bytes to an object of the version it was stored in. Reads JSON and protobuf by their
 * first bytes.
 */
export type ParseStored = (bytes: Buffer) => KubeObject
