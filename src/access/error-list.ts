/** Lists in messages, the way kube-apiserver writes them. */
import { goQuote } from '#api/go-syntax.ts'

/** Several errors as one: each listed once, brackets around more than one. */
export function joinErrors(errors: readonly string[]): string {
  const said = [...new Set(errors)]
  return said.length === 1 ? `${said[0]}` : `[${said.join(', ')}]`
}

/** `["a" "b"]` */
export const showStrings = (list: readonly string[]): string => `[${list.map(goQuote).join(' ')}]`
