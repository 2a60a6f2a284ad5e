/**
 * Encodes the rows of a JSON table as text. The parsed object of a row is cached by the object's
 * version. The same lists are requested often, and only the ages in their cells change.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { metaApiVersion, type MetaVersion } from '#codec/partial-metadata.ts'
import type { Columns, IncludeObject, TableItem } from '#codec/table.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectView } from '#verbs/answer.ts'

/** The number of cached objects: a page of the size that kubectl requests. */
const keptMax = 500
/**
 * The limit for the stored bytes of cached objects; parsed, they need several times as much memory.
 */
const keptBytesMax = 8 << 20

/** The source of an object's rows. */
export interface Kept {
  readonly kind: Kind
  readonly revision: ObjectView['revision']
  readonly item: TableItem
  /** The encoded object column by `Shown.name`, filled on first use. */
  readonly objects: Map<string, Buffer>
}

export interface Row {
  /**
   * The object, if the rows are sorted by its cells. Otherwise it is released, because all of them
   * need as much memory as the list.
   */
  readonly cellsOf: KubeObject | undefined
  /** The text before the object column. */
  readonly start: string
  readonly object: Buffer
}

/** The object column: which part of the object, in which version. */
export interface Shown {
  readonly include: IncludeObject
  readonly version: MetaVersion
  /** A key for both. */
  readonly name: string
}

const nothing = Buffer.from('null')

export class TableRows {
  readonly #kept = new Map<Buffer, Kept>()
  #bytes = 0

  /** The cached source of an object in its current version. */
  known(kind: Kind, { cut, revision }: ObjectView): Kept | undefined {
    const kept = this.#kept.get(cut.bytes)
    return kept?.kind === kind && kept.revision === revision ? kept : undefined
  }

  keep(kind: Kind, { cut, revision }: ObjectView, item: TableItem): Kept {
    const made = { kind, revision, item, objects: new Map<string, Buffer>() }
    if (!this.#kept.has(cut.bytes)) this.#bytes += cut.bytes.length
    this.#kept.set(cut.bytes, made)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= keptMax && this.#bytes <= keptBytesMax) break
      this.#kept.delete(oldest)
      this.#bytes -= oldest.length
    }
    return made
  }
}

export function rowOf(kept: Kept, columns: Columns, now: number, shown: Shown): Row {
  const { cellsOf } = kept.item
  const cells = JSON.stringify(columns.cells(cellsOf, now))
  const conditions = columns.conditions?.(cellsOf)
  const middle = conditions?.length ? `,"conditions":${JSON.stringify(conditions)}` : ''
  const start = `{"cells":${cells}${middle},"object":`
  const sorted = columns.order === undefined ? undefined : cellsOf
  return { cellsOf: sorted, start, object: objectOf(kept, shown) }
}

function objectOf({ item, objects }: Kept, { include, version, name }: Shown): Buffer {
  if (include === 'None') return nothing
  const known = objects.get(name)
  if (known !== undefined) return known
  const { shown, metadataOnly = shown } = item
  const value = include === 'Object' ? shown : metadataAlone(metadataOnly, version)
  const made = Buffer.from(JSON.stringify(value))
  objects.set(name, made)
  return made
}

const metadataAlone = ({ metadata }: KubeObject, version: MetaVersion): Loose => ({
  kind: 'PartialObjectMetadata',
  apiVersion: metaApiVersion(version),
  metadata,
})

/** Joins the rows, with the text before and after them, in one buffer. */
export function joinRows(before: string, rows: readonly Row[], after: string): Buffer {
  const bracketBytes = 2
  let size = Buffer.byteLength(before) + Buffer.byteLength(after)
  for (const { start, object } of rows)
    size += Buffer.byteLength(start) + object.length + bracketBytes
  const out = Buffer.allocUnsafe(size)
  let at = out.write(before, 0)
  let separator = ''
  for (const { start, object } of rows) {
    at += out.write(separator + start, at)
    at += object.copy(out, at)
    separator = '},'
  }
  if (rows.length > 0) at += out.write('}', at, 'latin1')
  at += out.write(after, at)
  return out.subarray(0, at)
}
