/**
 * Assembles /openapi/v2 from parts that are generated once: the built-in part and one part for each
 * custom kind. Adding a kind costs its own part and the joining. A changed definition counts as a
 * new kind. Generation is split into turns, so that the server can handle requests in between.
 */
import { Turns } from '#base/turns.ts'
import type { Kind } from '#kinds/kind.ts'
import { pathsAdded, aroundV2, builtInV2, definitionsAdded } from './document-v2.ts'
import { filled, markedKind, markedText, shapeOf, spellingsOf } from './marked-kind.ts'
import { pathText } from './path-text.ts'
import { encodeEntriesV2, joinDocumentV2, recordPathsV2 } from './protobuf-v2.ts'
import { isCustom, type JsonObject, type OpenApiSource } from './source.ts'

type Which = 'paths' | 'definitions'

/** How the document is serialised: single members, and the whole document. */
interface Written {
  members(which: Which, object: JsonObject): Buffer[]
  /** The members of paths, with placeholders replaced by a kind's names. */
  pattern(paths: JsonObject): (names: readonly string[]) => Buffer[]
  join(around: JsonObject, paths: readonly Buffer[], definitions: readonly Buffer[]): Buffer
}

const memberTexts = (which: Which, object: JsonObject): string[] =>
  Object.entries(object).map(([name, one]) => {
    const text = which === 'paths' ? pathText(one as JsonObject) : JSON.stringify(one)
    return `,${JSON.stringify(name)}:${text}`
  })

/** Each member starts with a comma, so that joining them is copying. */
export const asText: Written = {
  members: (which, object) => memberTexts(which, object).map((text) => Buffer.from(text)),
  pattern(paths) {
    const marked = memberTexts('paths', paths).map((text) => markedText(text) ?? [text])
    return (names) => marked.map((one) => Buffer.from(filled(one, names)))
  },
  join(around, paths, definitions) {
    const pieces: Buffer[] = []
    let before = '{'
    for (const [name, value] of Object.entries(around)) {
      const members = name === 'paths' ? paths : name === 'definitions' ? definitions : undefined
      before += `${before.endsWith('{') ? '' : ','}${JSON.stringify(name)}:`
      if (members === undefined) before += JSON.stringify(value)
      else {
        pieces.push(Buffer.from(`${before}{`))
        for (const [i, member] of members.entries()) pieces.push(i ? member : member.subarray(1))
        before = '}'
      }
    }
    return Buffer.concat([...pieces, Buffer.from(`${before}}`)])
  },
}

export const asProtobuf: Written = {
  members: encodeEntriesV2,
  pattern: recordPathsV2,
  join: joinDocumentV2,
}

type Members = Record<Which, (readonly [name: string, member: Buffer])[]>

interface Part extends Members {
  readonly needs: readonly string[]
}

/** The paths of all kinds with one shape, and the shared definitions that they refer to. */
interface Pattern {
  readonly pathsFor: (names: readonly string[]) => Members['paths']
  readonly needs: readonly string[]
}

interface BuiltIn extends Members {
  /** The built-in definitions that custom kinds refer to. */
  readonly needs: string
}

export class WholeV2 {
  readonly #written: Written
  readonly #parts = new WeakMap<Kind, Part>()
  readonly #patterns = new Map<string, Pattern>()
  #builtIn: BuiltIn | undefined

  constructor(written: Written) {
    this.#written = written
  }

  async make(source: OpenApiSource): Promise<Buffer> {
    const turns = new Turns()
    const custom = source.kinds.filter((kind) => isCustom(source, kind))
    const added: Part[] = []
    for (const kind of custom) {
      added.push(this.#partOf(source, kind))
      if (turns.over) await turns.next()
    }
    const needs = new Set(added.flatMap((part) => part.needs))
    const builtIn = await this.#builtInFor(source, needs, turns)
    // Cached for the next custom kind. A server without custom kinds probably never needs it again.
    this.#builtIn = custom.length === 0 ? undefined : builtIn
    await turns.next()
    const inOrder = (which: Which): Buffer[] => {
      const all = new Map([builtIn, ...added].flatMap((one) => one[which]))
      return [...all.keys()].sort().map((name) => all.get(name) as Buffer)
    }
    const [paths, definitions] = [inOrder('paths'), inOrder('definitions')]
    if (turns.over) await turns.next()
    return this.#written.join(aroundV2(source), paths, definitions)
  }

  #partOf(source: OpenApiSource, kind: Kind): Part {
    let part = this.#parts.get(kind)
    if (part === undefined) {
      part = this.#writePart(source, kind)
      this.#parts.set(kind, part)
    }
    return part
  }

  #writePart(source: OpenApiSource, kind: Kind): Part {
    const definitions = this.#named('definitions', definitionsAdded(source, kind))
    const shape = shapeOf(kind)
    if (shape === undefined) {
      const { paths, needs } = pathsAdded(source, kind)
      return { paths: this.#named('paths', paths), definitions, needs }
    }
    let pattern = this.#patterns.get(shape)
    if (pattern === undefined) {
      pattern = this.#patternOf(source, kind)
      this.#patterns.set(shape, pattern)
    }
    return { paths: pattern.pathsFor(spellingsOf(source, kind)), definitions, needs: pattern.needs }
  }

  #patternOf(source: OpenApiSource, kind: Kind): Pattern {
    const { paths, needs } = pathsAdded(source, markedKind(kind))
    const places = Object.keys(paths).map((path) => markedText(path) ?? [path])
    const membersFor = this.#written.pattern(paths)
    const pathsFor = (names: readonly string[]) => {
      const members = membersFor(names)
      return places.map((path, i) => [filled(path, names), members[i]] as const)
    }
    return { pathsFor, needs }
  }

  /** Built-in kinds do not change while the server runs. */
  async #builtInFor(
    source: OpenApiSource,
    also: ReadonlySet<string>,
    turns: Turns,
  ): Promise<BuiltIn> {
    const needs = [...also].sort().join(' ')
    if (this.#builtIn?.needs === needs) return this.#builtIn
    const kinds = source.kinds.filter((kind) => !isCustom(source, kind))
    const made: BuiltIn = { needs, paths: [], definitions: [] }
    for (const { which, members } of builtInV2(source, kinds, also)) {
      made[which].push(...this.#named(which, members))
      if (turns.over) await turns.next()
    }
    return made
  }

  #named(which: Which, object: JsonObject): (readonly [name: string, member: Buffer])[] {
    const members = this.#written.members(which, object)
    return Object.keys(object).map((name, i) => [name, members[i]] as const)
  }
}
