/** Formats lists in messages as kube-apiserver does. */
import { goQuote } from '#api/go-syntax.ts'

/** Joins several errors, each listed once, in brackets if there are several. */
export function joinErrors(errors: readonly string[]): string {
  const stated = [...new Set(errors)]
  return stated.length === 1 ? `${stated[0]}` : `[${stated.join(', ')}]`
}

/** `["a" "b"]` */
export const showStrings = (list: readonly string[]): string => `[${list.map(goQuote).join(' ')}]`
