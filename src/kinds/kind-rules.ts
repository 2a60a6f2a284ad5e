/**
 * The exports of a built-in kind's folder: the rules that facts cannot express. The folder
 * `apps/deployment` exports `deployment: KindRules` from `deployment.ts`. The registry loads it
 * with the first object of the kind.
 */
import type { ReleaseChange } from '#api/releases/change.ts'
import type { Conversions } from './all-kinds/conversion.ts'
import type { Defaulters } from './all-kinds/defaulter.ts'
import type { Behaviour } from './kind.ts'
import type { TableColumns } from './table-columns.ts'

/**
 * Table columns of releases without the change `before`: some columns or all are removed, or others
 * replace them.
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
  /** A separate implementation for older releases, if kube-apiserver's rules were rewritten. */
  readonly olderBehaviour?: OlderBehaviour
  /**
   * A finalizer must be a known name or have a domain. Some kinds allow any qualified name. Other
   * kinds validate finalizers themselves, in another order or only in some releases.
   */
  readonly finalizerNames?: 'any' | 'by-behaviour'
  /** Table columns of the newest release. Default: name and age. */
  readonly columns?: TableColumns
  /** Columns of older releases, oldest first. The first entry that covers the release applies. */
  readonly olderColumns?: readonly OlderColumns[]
  /** Fields that became selectable with a change. */
  readonly newerSelectableFields?: ReadonlyMap<string, ReleaseChange>
  /** Defaults of all versions by OpenAPI type name, including types that other kinds share. */
  readonly defaults?: Defaulters
  /** Conversions of all versions to the hub version and back. */
  readonly conversions?: Conversions
}
