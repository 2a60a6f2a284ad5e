/**
 * /openapi/v2 put together from parts that are made once: what is built in, and what each custom kind adds. One more kind
 * costs its own part and the joining, however many there are. A kind that is defined anew is a new kind here.
 */
import type { Kind } from '#kinds/kind.ts'
import { additionV2, documentV2 } from './document-v2.ts'
import { encodeDocumentV2, encodeEntriesV2, joinDocumentV2 } from './protobuf-v2.ts'
import { isCustom, type JsonObject, type OpenApiSource } from './source.ts'

/** Members of an object, each with its name in front: `"name":{…}`. */
type Members = readonly (readonly [name: string, text: string])[]

interface Part {
  readonly paths: Members
  readonly definitions: Members
  readonly needs: readonly string[]
}

interface EncodedPart {
  readonly paths: readonly (readonly [name: string, bytes: Buffer])[]
  readonly definitions: readonly (readonly [name: string, bytes: Buffer])[]
}

const membersOf = (object: JsonObject): Members =>
  Object.entries(object).map(([name, value]) => [
    name,
    `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  ])

const valuesOf = (members: Members): JsonObject =>
  JSON.parse(`{${members.map(([, text]) => text).join(',')}}`)

export class WholeV2 {
  readonly #parts = new WeakMap<Kind, Part>()
  readonly #encoded = new WeakMap<Part, EncodedPart>()
  /** What is built in and refers to nothing custom, by the definitions that custom kinds need of it. */
  #builtIn: { readonly by: string; readonly part: Part; readonly rest: JsonObject } | undefined

  /** As JSON. */
  text(source: OpenApiSource): Buffer {
    const custom = source.kinds.filter((kind) => isCustom(source, kind))
    if (custom.length === 0) return Buffer.from(JSON.stringify(documentV2(source)))
    const { parts, rest } = this.#all(source, custom)
    const joined = (which: 'paths' | 'definitions') =>
      `{${inOrder(parts.map((part) => part[which])).join(',')}}`
    const shown: string[] = []
    for (const [name, value] of Object.entries(rest)) {
      const isWhole = name === 'paths' || name === 'definitions'
      shown.push(`${JSON.stringify(name)}:${isWhole ? joined(name) : JSON.stringify(value)}`)
    }
    return Buffer.from(`{${shown.join(',')}}`)
  }

  protobuf(source: OpenApiSource): Buffer {
    const custom = source.kinds.filter((kind) => isCustom(source, kind))
    if (custom.length === 0) return encodeDocumentV2(JSON.parse(JSON.stringify(documentV2(source))))
    const { parts, rest } = this.#all(source, custom)
    const encoded = parts.map((part) => this.#encode(part))
    return joinDocumentV2(
      rest,
      inOrder(encoded.map(({ paths }) => paths)),
      inOrder(encoded.map(({ definitions }) => definitions)),
    )
  }

  #all(source: OpenApiSource, custom: readonly Kind[]) {
    const added = custom.map((kind) => this.#partOf(source, kind))
    const builtIn = this.#builtInFor(source, new Set(added.flatMap(({ needs }) => needs)))
    return { parts: [builtIn.part, ...added], rest: builtIn.rest }
  }

  #partOf(source: OpenApiSource, kind: Kind): Part {
    let part = this.#parts.get(kind)
    if (part === undefined) {
      const { paths, definitions, needs } = additionV2(source, kind)
      part = { paths: membersOf(paths), definitions: membersOf(definitions), needs }
      this.#parts.set(kind, part)
    }
    return part
  }

  /** Built-in kinds are the same for as long as the server runs. */
  #builtInFor(source: OpenApiSource, needs: ReadonlySet<string>) {
    const by = [...needs].sort().join(' ')
    if (this.#builtIn?.by === by) return this.#builtIn
    const kinds = source.kinds.filter((kind) => !isCustom(source, kind))
    const document = documentV2(source, kinds, needs)
    const paths = membersOf(document.paths as JsonObject)
    const definitions = membersOf(document.definitions as JsonObject)
    const rest = { ...document, paths: {}, definitions: {} }
    this.#builtIn = { by, part: { paths, definitions, needs: [] }, rest }
    return this.#builtIn
  }

  #encode(part: Part): EncodedPart {
    let encoded = this.#encoded.get(part)
    if (encoded === undefined) {
      const bytesOf = (which: 'paths' | 'definitions') => {
        const bytes = encodeEntriesV2(which, valuesOf(part[which]))
        return part[which].map(([name], i) => [name, bytes[i]] as const)
      }
      encoded = { paths: bytesOf('paths'), definitions: bytesOf('definitions') }
      this.#encoded.set(part, encoded)
    }
    return encoded
  }
}

/** The values of all by name. */
function inOrder<Value>(lists: readonly (readonly (readonly [string, Value])[])[]): Value[] {
  const all = new Map(lists.flat())
  return [...all.keys()].sort().map((name) => all.get(name) as Value)
}
