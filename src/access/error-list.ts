/** Formats lists in messages as kube-apiserver does. */
import { goQuote } from '#api/go-syntax.ts'

/** Joins several errors, each listed once, in brackets if there are several. */
export function joinErrors(errors: readonly string[]): string {
  const said = [...new Set(errors)]
  return said.length === 1 ? `${said[0]}` : `[${said.join(', ')}]`
}

/** `["a" "b"]` */
export const showStrings = (list: readonly string[]): string => `[${list.map(goQuote).join(' ')}]`
