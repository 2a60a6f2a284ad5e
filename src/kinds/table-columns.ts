/** The columns that `kubectl get` shows for a kind, and the cells of one object. */
import type { KubeObject } from '#api/object-meta.ts'

export interface ColumnDefinition {
  name: string
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  format: string
  /** Prose for people: ours, short. */
  description: string
  /** 0 is always shown, 1 with -o wide. */
  priority: number
}

export interface TableColumns {
  readonly columns: readonly ColumnDefinition[]
  /**
   * The cells of one object (hub version), in the order of the columns. `now`: milliseconds, for
   * ages.
   */
  cells(object: KubeObject, now: number): unknown[]
  /** The columns of a list whose cells depend on its other objects. */
  ofList?(objects: readonly KubeObject[]): TableColumns
  /** Row conditions, as finished pods have. */
  conditions?(object: KubeObject): unknown[] | undefined
  /** The order of the rows, if it differs from that of the list. */
  order?(a: KubeObject, b: KubeObject): number
}
