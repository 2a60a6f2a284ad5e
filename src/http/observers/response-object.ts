/**
 * The response in the audit log: always JSON, and a table or metadata if the client requested that.
 */
import { loadLater } from '#base/load-later.ts'
import type { Exchange } from '#http/exchange.ts'
import { listStart } from '#http/response/list-body.ts'
import { encodeObject } from '#http/response/other-shapes.ts'
import { cutFor, headerOf, jsonOf, type ShapeParts } from '#http/response/represent.ts'
import { negotiateShape, type Shape } from '#http/response/shape.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Answer } from '#verbs/answer.ts'
import type { ParseStored } from '#watchcache/entry.ts'

const loadOtherLists = loadLater<typeof import('#http/response/other-lists.ts')>(
  import.meta.url,
  '#http/response/other-lists',
)

/** Undefined if there was no response. */
export async function responseText(
  exchange: Exchange,
  parts: ShapeParts,
): Promise<string | undefined> {
  const { answer, refusal } = exchange
  if (refusal !== undefined) return JSON.stringify(refusal.status())
  if (answer === undefined) return undefined
  if (answer.is !== 'object' && answer.is !== 'list') return JSON.stringify(answer.value)
  const shape = otherShape(exchange, answer.kind)
  const { parseStored } = parts.server
  if (answer.is === 'object')
    return shape === undefined
      ? objectText(answer, parseStored)
      : String(await encodeObject(answer, shape, parts, exchange)).trimEnd()
  return shape === undefined
    ? listText(answer, parseStored)
    : String(await loadOtherLists().encodeList(answer, shape, parts, exchange)).trimEnd()
}

/** Undefined if the object itself was requested. */
function otherShape(exchange: Exchange, kind: Kind): Shape | undefined {
  const { as } = negotiateShape(exchange, kind)
  if (as === undefined) return undefined
  return { format: 'json', as, pretty: false, contentType: '', plainJson: false }
}

async function objectText(
  { kind, view }: Answer & { is: 'object' },
  parse: ParseStored,
): Promise<string> {
  return String(jsonOf(kind, await cutFor(kind, view, parse), view)).trimEnd()
}

/** The items of built-in kinds have no kind and apiVersion. */
async function listText(answer: Answer & { is: 'list' }, parse: ParseStored): Promise<string> {
  const { kind, entries, revision, continueToken, remaining } = answer
  const header = kind.itemsCarryType ? 0 : headerOf(kind).length
  const items: string[] = []
  for (const entry of entries) {
    const text = String(jsonOf(kind, await cutFor(kind, entry, parse), entry)).trimEnd()
    items.push(header === 0 ? text : `{${text.slice(header)}`)
  }
  return `${listStart({ kind: kind.listKind, apiVersion: kind.apiVersion, revision, continueToken, remaining })}${items.join(',')}]}`
}
