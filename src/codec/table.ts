/**
 * Makes the rows of a Table from objects, in both versions of meta.k8s.io. The caller provides
 * columns and cells. Kinds without columns have Name and Created At.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { badRequest } from '#api/status-error.ts'
import { goQuote } from '#api/go-syntax.ts'
import {
  type ListMetadata,
  type MetaVersion,
  metaApiVersion,
  partialMetadata,
} from './partial-metadata.ts'

export interface Column {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
}

/** The columns of a kind, and the cells of one object in the same order. */
export interface Columns {
  readonly columns: readonly Column[]
  cells(object: KubeObject, now: number): unknown[]
  conditions?(object: KubeObject): unknown[] | undefined
  /** The columns of a list whose cells depend on its other objects. */
  ofList?(objects: readonly KubeObject[]): Columns
  /** Sorts the rows, if their order differs from that of the list. */
  order?(a: KubeObject, b: KubeObject): number
}

export type IncludeObject = 'None' | 'Metadata' | 'Object'

export interface TableOptions {
  readonly version: MetaVersion
  readonly include: IncludeObject
  /** Whether the table has column definitions; in a watch only the first event has them. */
  readonly headers: boolean
  /** The current time in milliseconds, for ages. */
  readonly now: number
}

/** The source of a row: the object for the cells, and the object in the client's version. */
export interface TableItem {
  readonly shown: KubeObject
  readonly cellsOf: KubeObject
  /**
   * The object for rows with only metadata, by default `shown`. Its annotations do not include
   * those that represent fields of other versions.
   */
  readonly metadataOnly?: KubeObject
}

export const defaultColumns: Columns = {
  columns: [
    {
      name: 'Name',
      type: 'string',
      format: 'name',
      description: 'Name of the object.',
      priority: 0,
    },
    {
      name: 'Created At',
      type: 'date',
      format: '',
      description: 'When the server created the object.',
      priority: 0,
    },
  ],
  cells: ({ metadata }) => [
    metadata.name ?? '',
    metadata.creationTimestamp ?? '0001-01-01T00:00:00Z',
  ],
}

function rowOf(item: TableItem, columns: Columns, options: TableOptions): Loose {
  const conditions = columns.conditions?.(item.cellsOf)
  const object =
    options.include === 'None'
      ? null
      : options.include === 'Object'
        ? item.shown
        : partialMetadata(item.metadataOnly ?? item.shown, options.version)
  const cells = columns.cells(item.cellsOf, options.now)
  if (conditions === undefined || conditions.length === 0) return { cells, object }
  return { cells, conditions, object }
}

function metadataOf(metadata: ListMetadata): Loose {
  const { selfLink, resourceVersion, continue: token, remainingItemCount } = metadata
  return {
    ...(selfLink !== undefined && { selfLink }),
    ...(resourceVersion !== undefined && resourceVersion !== '' && { resourceVersion }),
    ...(token !== undefined && token !== '' && { continue: token }),
    ...(remainingItemCount !== undefined && { remainingItemCount }),
  }
}

/** A Table of a list, or of one object; `metadata` is that of the list or object. */
export function tableOf(
  items: readonly TableItem[],
  columns: Columns,
  metadata: ListMetadata,
  options: TableOptions,
): Loose {
  const { order } = columns
  const ordered = order ? items.toSorted((a, b) => order(a.cellsOf, b.cellsOf)) : items
  const rows = ordered.map((item) => rowOf(item, columns, options))
  return {
    kind: 'Table',
    apiVersion: metaApiVersion(options.version),
    metadata: metadataOf(metadata),
    columnDefinitions: options.headers ? columns.columns : null,
    // kube-apiserver's default printer writes null instead of an empty list.
    rows: rows.length === 0 && columns === defaultColumns ? null : rows,
  }
}

/** The value of `?includeObject=`. Throws 400. */
export function parseIncludeObject(value: string | null | undefined): IncludeObject {
  if (value === null || value === undefined || value === '') return 'Metadata'
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${goQuote(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  )
}
