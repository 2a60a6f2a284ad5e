/**
 * Resources and subresources that are not an object read or written as it is: scale, bindings, evictions, tokens and
 * reviews. One row each; everything else goes through the ordinary verbs.
 */
import type { Answer } from './answer.ts'
import type { Server, Target, WriteRequest } from './server.ts'

export type SpecialVerb = (
  server: Server,
  target: Target,
  request: WriteRequest | undefined,
  query: URLSearchParams,
) => Promise<Answer>

const table: Readonly<Record<string, Readonly<Record<string, SpecialVerb>>>> = {}

export function specialVerb(target: Target, verb: string): SpecialVerb | undefined {
  const { kind, subresource } = target
  const row = table[`${kind.group}/${kind.plural}${subresource === '' ? '' : `/${subresource}`}`]
  return row?.[verb] ?? (subresource === '' ? undefined : table[`*/${subresource}`]?.[verb])
}
