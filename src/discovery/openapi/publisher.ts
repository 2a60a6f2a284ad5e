/**
 * Serialises the OpenAPI documents on first use and caches them until the served kinds change. Each
 * document has its own hash, so clients fetch only documents that have changed.
 */
import { createHash } from 'node:crypto'
import type { Awaitable } from '#base/awaitable.ts'
import { Turns } from '#base/turns.ts'
import type { GroupVersion } from '#kinds/catalog.ts'
import { orderedGroups, type PriorityOf } from '#discovery/group-order.ts'
import type { Facts } from '#kinds/facts.ts'
import type { Kind } from '#kinds/kind.ts'
import { type Gvks, groupVersionKinds } from './definitions.ts'
import { type ContentV3, documentsV3, documentV3 } from './document-v3.ts'
import type { JsonObject, OpenApiSource } from './source.ts'
import { asProtobuf, asText, WholeV2 } from './whole-v2.ts'

export interface OpenApiParts {
  readonly facts: Facts
  readonly release: number
  readonly priorityOf: PriorityOf
  readonly applies: boolean
  readonly servesCbor: boolean
  readonly enums: boolean
  readonly schemaOf: (kind: Kind) => JsonObject | undefined
  /** The served kinds. A new generation invalidates every document. */
  readonly catalog: {
    readonly generation: number
    readonly groupVersions: readonly GroupVersion[]
    kindsOf(group: string, version: string): Kind[]
  }
}

export interface Published {
  readonly bytes: Buffer
  /** Upper-case hexadecimal: used as ETag, and in the URLs of v3 documents. */
  readonly hash: string
}

/** Generates a document in turns. */
type Making = Pick<WholeV2, 'make'>

/** Bytes that are hashed per turn: a few milliseconds of work. */
const hashedAtOnceBytes = 1 << 20

const hashOf = (bytes: Buffer | string): string =>
  createHash('sha512').update(bytes).digest('hex').toUpperCase()

const published = (bytes: Buffer): Published => ({ bytes, hash: hashOf(bytes) })

export class OpenApiPublisher {
  readonly #parts: OpenApiParts
  readonly #v2 = new WholeV2(asText)
  readonly #v2Protobuf = new WholeV2(asProtobuf)
  readonly #marks = new WeakMap<Kind, string>()
  #generation = -1
  #made = new Map<string, Published>()
  #making = new Map<string, Promise<Published>>()
  #source: OpenApiSource | undefined
  #gvks: Gvks | undefined
  #documents: Map<string, () => ContentV3> | undefined

  constructor(parts: OpenApiParts) {
    this.#parts = parts
  }

  /** /openapi/v2 as JSON. */
  v2(): Awaitable<Published> {
    return this.#inTurns('v2', this.#v2)
  }

  /** /openapi/v2 as protobuf. */
  v2Protobuf(): Awaitable<Published> {
    return this.#inTurns('v2 protobuf', this.#v2Protobuf)
  }

  /** /openapi/v3: the path of each group version's document, with a hash of its inputs. */
  v3Index(): Awaitable<Published> {
    return this.#inTurns('v3', { make: (source) => this.#indexOf(source) })
  }

  async #indexOf(source: OpenApiSource): Promise<Buffer> {
    const turns = new Turns()
    const paths: JsonObject = {}
    for (const name of this.#documentsV3(source).keys()) {
      paths[name] = { serverRelativeURL: `/openapi/v3/${name}?hash=${this.#mark(source, name)}` }
      if (turns.over) await turns.next()
    }
    return Buffer.from(JSON.stringify({ paths }))
  }

  /** /openapi/v3/<name>, e.g. 'apis/apps/v1'. Undefined if no document has this name. */
  v3(name: string): Published | undefined {
    const source = this.#current()
    const content = this.#documentsV3(source).get(name)
    if (content === undefined) return undefined
    this.#gvks ??= groupVersionKinds(source)
    const gvks = this.#gvks
    return this.#once(`v3 ${name}`, () =>
      Buffer.from(JSON.stringify(documentV3(content(), source, gvks))),
    )
  }

  /** The hash that a client should send; requests with an older one are redirected to it. */
  v3Hash(name: string): string {
    return this.#mark(this.#current(), name)
  }

  #once(key: string, make: (source: OpenApiSource) => Buffer): Published {
    const source = this.#current()
    let found = this.#made.get(key)
    if (found === undefined) {
      found = published(make(source))
      this.#made.set(key, found)
    }
    return found
  }

  /**
   * Concurrent requests share one generation. Kinds that are added during it appear in the next
   * document.
   */
  #inTurns(key: string, whole: Making): Awaitable<Published> {
    const source = this.#current()
    const found = this.#made.get(key) ?? this.#making.get(key)
    if (found !== undefined) return found
    const [made, underWay] = [this.#made, this.#making]
    const making = this.#make(source, whole)
      .then((published) => {
        made.set(key, published)
        return published
      })
      .finally(() => underWay.delete(key))
    underWay.set(key, making)
    return making
  }

  async #make(source: OpenApiSource, whole: Making): Promise<Published> {
    const bytes = await whole.make(source)
    const turns = new Turns()
    const hash = createHash('sha512')
    for (let at = 0; at < bytes.length; at += hashedAtOnceBytes) {
      if (turns.over) await turns.next()
      hash.update(bytes.subarray(at, at + hashedAtOnceBytes))
    }
    return { bytes, hash: hash.digest('hex').toUpperCase() }
  }

  #documentsV3(source: OpenApiSource): Map<string, () => ContentV3> {
    this.#documents ??= documentsV3(source)
    return this.#documents
  }

  /**
   * A hash of the inputs of a document. Comparing hashes is faster than generating all documents to
   * see which have changed.
   */
  #mark(source: OpenApiSource, name: string): string {
    const prefix = name.split('/')
    const [group, version] = prefix[0] === 'api' ? ['', prefix[1]] : [prefix[1], prefix[2]]
    const kinds = this.#parts.catalog
      .kindsOf(group, version)
      .map((kind) => this.#markOf(source, kind))
    const facts = source.facts.versionOf(source.release)
    return hashOf(
      JSON.stringify([
        facts,
        source.applies,
        source.servesCbor,
        source.enums,
        name,
        source.groups.get(group),
        kinds,
      ]),
    )
  }

  #markOf(source: OpenApiSource, kind: Kind): string {
    let mark = this.#marks.get(kind)
    if (mark === undefined) {
      const { plural, verbs, subresources } = kind
      const made = [plural, [...verbs], [...subresources.keys()], source.schemaOf(kind)]
      mark = hashOf(JSON.stringify(made))
      this.#marks.set(kind, mark)
    }
    return mark
  }

  #current(): OpenApiSource {
    const { catalog } = this.#parts
    if (this.#source !== undefined && this.#generation === catalog.generation) return this.#source
    this.#generation = catalog.generation
    this.#made = new Map()
    this.#making = new Map()
    this.#documents = undefined
    this.#gvks = undefined
    const { facts, release, applies, servesCbor, enums, schemaOf, priorityOf } = this.#parts
    const groups = orderedGroups(catalog.groupVersions, priorityOf)
    const versions: [string, readonly string[]][] = [['', ['v1']], ...groups]
    const kinds = versions.flatMap(([group, names]) =>
      names.flatMap((version) => catalog.kindsOf(group, version)),
    )
    this.#source = { facts, release, kinds, groups, applies, servesCbor, enums, schemaOf }
    return this.#source
  }
}
