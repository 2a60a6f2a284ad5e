/**
 * /openapi/v2 put together from parts that are made once: what is built in, and what each custom kind adds. One more kind
 * costs its own part and the joining, however many there are. A kind that is defined anew is a new kind here.
 */
import type { Kind } from '#kinds/kind.ts'
import { additionV2, documentV2 } from './document-v2.ts'
import { encodeDocumentV2, encodeEntriesV2, joinDocumentV2 } from './protobuf-v2.ts'
import { isCustom, type JsonObject, type OpenApiSource } from './source.ts'

type Which = 'paths' | 'definitions'

/** How the document is written: its members one by one, and all of them together. */
interface Written<Member> {
  whole(document: JsonObject): Buffer
  members(which: Which, object: JsonObject): Member[]
  join(document: JsonObject, paths: readonly Member[], definitions: readonly Member[]): Buffer
}

export const asText: Written<string> = {
  whole: (document) => Buffer.from(JSON.stringify(document)),
  members: (_which, object) =>
    Object.entries(object).map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`),
  join(document, paths, definitions) {
    const shown = Object.entries(document).map(([name, value]) => {
      const members = name === 'paths' ? paths : name === 'definitions' ? definitions : undefined
      return `${JSON.stringify(name)}:${members ? `{${members.join(',')}}` : JSON.stringify(value)}`
    })
    return Buffer.from(`{${shown.join(',')}}`)
  },
}

export const asProtobuf: Written<Buffer> = {
  whole: encodeDocumentV2,
  members: encodeEntriesV2,
  join: joinDocumentV2,
}

interface Part<Member> {
  readonly paths: readonly (readonly [name: string, member: Member])[]
  readonly definitions: readonly (readonly [name: string, member: Member])[]
  readonly needs: readonly string[]
}

interface BuiltIn<Member> {
  /** The definitions that custom kinds need of it. */
  readonly needs: string
  readonly part: Part<Member>
  /** All but paths and definitions, which are empty. */
  readonly around: JsonObject
}

export class WholeV2<Member> {
  readonly #written: Written<Member>
  readonly #parts = new WeakMap<Kind, Part<Member>>()
  #builtIn: BuiltIn<Member> | undefined

  constructor(written: Written<Member>) {
    this.#written = written
  }

  make(source: OpenApiSource): Buffer {
    const custom = source.kinds.filter((kind) => isCustom(source, kind))
    if (custom.length === 0) return this.#written.whole(documentV2(source))
    const added = custom.map((kind) => this.#partOf(source, kind))
    const { part, around } = this.#builtInFor(source, new Set(added.flatMap(({ needs }) => needs)))
    const inOrder = (which: Which): Member[] => {
      const all = new Map([part, ...added].flatMap((one) => one[which]))
      return [...all.keys()].sort().map((name) => all.get(name) as Member)
    }
    return this.#written.join(around, inOrder('paths'), inOrder('definitions'))
  }

  #partOf(source: OpenApiSource, kind: Kind): Part<Member> {
    let part = this.#parts.get(kind)
    if (part === undefined) {
      const { paths, definitions, needs } = additionV2(source, kind)
      part = this.#write(paths, definitions, needs)
      this.#parts.set(kind, part)
    }
    return part
  }

  /** Built-in kinds are the same for as long as the server runs. */
  #builtInFor(source: OpenApiSource, needs: ReadonlySet<string>): BuiltIn<Member> {
    const named = [...needs].sort().join(' ')
    if (this.#builtIn?.needs === named) return this.#builtIn
    const kinds = source.kinds.filter((kind) => !isCustom(source, kind))
    const document = documentV2(source, kinds, needs)
    const { paths, definitions } = document as { paths: JsonObject; definitions: JsonObject }
    this.#builtIn = {
      needs: named,
      part: this.#write(paths, definitions, []),
      around: { ...document, paths: {}, definitions: {} },
    }
    return this.#builtIn
  }

  #write(paths: JsonObject, definitions: JsonObject, needs: readonly string[]): Part<Member> {
    const named = (which: Which, object: JsonObject) => {
      const members = this.#written.members(which, object)
      return Object.keys(object).map((name, i) => [name, members[i]] as const)
    }
    return {
      paths: named('paths', paths),
      definitions: named('definitions', definitions),
      needs,
    }
  }
}
