/**
 * What the folder of a built-in kind exports: the rules that facts cannot state. The folder
 * `apps/deployment` exports `deployment: KindRules` from `deployment.ts`; the registry loads it
 * with the first object of the kind.
 */
import type { ReleaseChange } from '#api/releases/change.ts'
import type { Conversions } from './all-kinds/conversion.ts'
import type { Defaulters } from './all-kinds/defaulter.ts'
import type { Behaviour } from './kind.ts'
import type { TableColumns } from './table-columns.ts'

/**
 * Table columns of the releases without the change `before`: some are left out, all are, or others
 * take their place.
 */
export interface OlderColumns {
  readonly before: ReleaseChange
  readonly without?: readonly string[] | 'everything'
  readonly instead?: TableColumns
}

/** The behaviour of releases without the change `before`. */
export interface OlderBehaviour {
  readonly before: ReleaseChange
  readonly behaviour: Behaviour
}

export interface KindRules {
  /** Validation and strategy, on the hub version. */
  readonly behaviour: Behaviour
  /** For kinds whose rules were written anew: those of older releases. */
  readonly olderBehaviour?: OlderBehaviour
  /**
   * Finalizers must be known or have a domain. Exceptions: kinds whose finalizers may have any
   * qualified name, and kinds whose own validation checks them, in another order or in some
   * releases only.
   */
  readonly finalizerNames?: 'any' | 'by-behaviour'
  /** Table columns of the newest release; absent: name and age. */
  readonly columns?: TableColumns
  /** The oldest first; the first entry that covers a release counts. */
  readonly olderColumns?: readonly OlderColumns[]
  /** Fields that releases before a change cannot select by. */
  readonly newerSelectableFields?: ReadonlyMap<string, ReleaseChange>
  /**
   * Defaults of all its versions, by OpenAPI type name, with those of the types it shares with
   * other kinds.
   */
  readonly defaults?: Defaulters
  /** Conversions of its versions to the hub version and back. */
  readonly conversions?: Conversions
}
