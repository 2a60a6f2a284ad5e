/** Answers that are not stored bytes as they are: indented JSON, YAML, protobuf, tables, metadata alone. */
import type { Loose } from '#api/object-meta.ts'
import { encodeJson } from '#codec/json.ts'
import { encodeYaml } from '#codec/yaml.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Answer } from '#verbs/answer.ts'
import type { Exchange } from './exchange.ts'
import type { TypedFramer } from './framer.ts'
import type { HttpParts } from './parts.ts'
import { objectFor } from './represent.ts'
import type { Shape } from './shape.ts'

type Value = Loose & { kind: string; apiVersion: string }

export async function encodeObject(
  answer: Answer & { is: 'object' },
  shape: Shape,
  parts: HttpParts,
  _exchange: Exchange,
): Promise<Buffer> {
  const object = await objectFor(answer.kind, answer.view, parts.server.parseStored)
  return encodeValue(object as Value, shape)
}

export async function encodeList(
  answer: Answer & { is: 'list' },
  shape: Shape,
  parts: HttpParts,
  _exchange: Exchange,
): Promise<Buffer> {
  const { kind, entries, revision, continueToken, remaining } = answer
  const items = await Promise.all(entries.map((entry) => objectFor(kind, entry, parts.server.parseStored)))
  const metadata = {
    resourceVersion: String(revision),
    ...(continueToken !== '' && { continue: continueToken }),
    ...(remaining !== undefined && { remainingItemCount: remaining }),
  }
  return encodeValue({ kind: kind.listKind, apiVersion: kind.apiVersion, metadata, items }, shape)
}

export function encodeValue(value: Value, shape: Shape): Buffer {
  switch (shape.format) {
    case 'yaml':
      return encodeYaml(value)
    default:
      return encodeJson(value, shape.pretty)
  }
}

export function otherFramer(
  kind: Kind,
  shape: Shape,
  parts: HttpParts,
  _exchange: Exchange,
): TypedFramer {
  return {
    shape: '',
    contentType: shape.contentType,
    async frame(type, entry, revision) {
      const object = await objectFor(kind, { ...entry, revision }, parts.server.parseStored)
      return Buffer.from(`${JSON.stringify({ type, object })}\n`)
    },
    bookmark: () => undefined,
  }
}
