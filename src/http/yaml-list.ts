/**
 * A list in YAML, item by item, others having their turn in between: writing YAML takes long, some
 * tenths of a microsecond for each character. Only one object is in memory as a value at a time.
 */
import type { Loose } from '#api/object-meta.ts'
import type { Awaitable } from '#base/awaitable.ts'
import { encodeYaml, yamlListText } from '#codec/yaml.ts'
import type { Exchange } from './exchange.ts'
import { RequestTurns } from './request-turns.ts'

/**
 * `frame` is the whole without its items, as it is where there are none; `valueOf` makes the value
 * of one.
 */
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
