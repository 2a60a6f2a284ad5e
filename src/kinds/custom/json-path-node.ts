/** The syntax tree of the JSON paths of printer columns. */
export type JsonPathNode =
  | { readonly is: 'field'; readonly name: string }
  | { readonly is: 'wildcard' | 'recursive' }
  | {
      readonly is: 'slice'
      readonly from?: number
      readonly to?: number
      readonly step?: number
      /** An index such as [-1]: the end of the slice is then the end of the list. */
      readonly single: boolean
    }
  | {
      readonly is: 'filter'
      readonly left: readonly JsonPathNode[]
      readonly operator: string
      readonly right: readonly JsonPathNode[]
    }
  | { readonly is: 'union'; readonly lists: readonly (readonly JsonPathNode[])[] }
  /** Literal text. It produces one value, regardless of the current values. */
  | { readonly is: 'text'; readonly value: string }
  | { readonly is: 'constant'; readonly value: boolean }
  | { readonly is: 'number'; readonly kind: 'int' | 'float'; readonly value: number | bigint }
  /** An identifier that has no meaning in an evaluation. */
  | { readonly is: 'identifier'; readonly name: string }
  /** Several paths in one text: the first is shown, and only where the rest do not fail. */
  | {
      readonly is: 'guarded'
      readonly first: readonly JsonPathNode[]
      readonly rest: readonly (readonly JsonPathNode[])[]
    }

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

export const notInt64 = (value: bigint): boolean => value > int64Max || value < int64Min
