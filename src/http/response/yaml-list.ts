/**
 * Encodes a list as YAML item by item and yields to other requests, because writing YAML is slow.
 * Only one object at a time is decoded in memory.
 */
import type { Loose } from '#api/object-meta.ts'
import type { Awaitable } from '#base/awaitable.ts'
import { encodeYaml, yamlListText } from '#codec/yaml.ts'
import type { Exchange } from '#http/exchange.ts'
import { RequestTurns } from './request-turns.ts'

/** `frame` is the list without items; `valueOf` decodes one item. */
export async function yamlList<One>(
  exchange: Exchange,
  frame: Loose,
  key: 'items' | 'rows',
  items: readonly One[],
  valueOf: (one: One) => Awaitable<unknown>,
): Promise<Buffer> {
  if (items.length === 0) return encodeYaml(frame)
  const text = yamlListText(frame, key)
  const pieces = [Buffer.from(text.start())]
  const turns = new RequestTurns(exchange)
  for (const item of items) {
    pieces.push(Buffer.from(text.item(await valueOf(item))))
    if (turns.over) await turns.next()
  }
  pieces.push(Buffer.from(text.end()))
  return Buffer.concat(pieces)
}
