/**
 * The OpenAPI documents of aggregated servers: fetched when a server is registered and then once a
 * minute, and merged into ours on request. An unavailable server keeps its last document. The
 * document of a server that is no longer registered is removed.
 */
import { createHash } from 'node:crypto'
import { after } from '#base/awaitable.ts'
import { loadLater } from '#base/load-later.ts'
import { decodeJson } from '#codec/json.ts'
import type { OpenApiPublisher, Published } from '#discovery/openapi/publisher.ts'
import type { JsonObject } from '#discovery/openapi/source.ts'
import type { Aggregation, Remote } from './aggregation.ts'
import type { Document } from './merge-openapi.ts'
import type { RemoteDocumentsV3 } from './remote-documents-v3.ts'

/** Loaded when an aggregated server has documents. */
const later = <Module>(path: string) => loadLater<Module>(import.meta.url, path)
const load = {
  fetch: later<typeof import('./fetch-document.ts')>('./fetch-document'),
  v3: later<typeof import('./remote-documents-v3.ts')>('./remote-documents-v3'),
  merge: later<typeof import('./merge-openapi.ts')>('./merge-openapi'),
  protobuf: later<typeof import('#discovery/openapi/protobuf-v2.ts')>(
    '#discovery/openapi/protobuf-v2',
  ),
}

export type OpenApiDocuments = Pick<OpenApiPublisher, 'v2' | 'v2Protobuf' | 'v3Index' | 'v3'>

interface Fetched {
  readonly etag: string
  readonly document: Document
}

export type BuildReason = 'startup' | 'add' | 'update' | 'delete'

/** Called with the reason for a new document and the time to make it. */
export type BuildMeter = (apiService: string, reason: BuildReason, seconds: number) => void

/** kube-apiserver's name for its own custom kinds in this metric. */
const customKinds = 'k8s_internal_local_delegation_chain_0000000002'

const lookMs = 1000
const refetchMs = 60_000
/** A new server may not publish its document yet, so it is fetched again soon. */
const refetchSoonMs = 3000

export class RemoteDocuments {
  readonly #aggregation: Aggregation
  readonly #built: BuildMeter
  readonly #fetched = new Map<string, Fetched>()
  /** Why the next document differs from the last, by APIService. */
  readonly #reasons = new Map<string, BuildReason>([['*', 'startup']])
  #localHash: string | undefined
  /** The last fetch from each registered server. Results of other servers are dropped. */
  readonly #triedAt = new Map<string, number>()
  #generation = 0
  #timer: NodeJS.Timeout | undefined
  #merged: { of: string; v2: Published; protobuf: Published | undefined } | undefined
  #v3: RemoteDocumentsV3 | undefined

  constructor(aggregation: Aggregation, built: BuildMeter = () => {}) {
    this.#aggregation = aggregation
    this.#built = built
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), lookMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const there = new Map(this.#aggregation.remotes())
    for (const key of this.#triedAt.keys()) {
      if (there.has(key)) continue
      this.#triedAt.delete(key)
      this.#v3?.forget(key)
      if (this.#fetched.delete(key)) {
        this.#generation++
        this.#reasons.set(nameOf(key), 'delete')
      }
    }
    for (const [key, remote] of there) {
      const waitMs = this.#hasOwnPaths(key) ? refetchMs : refetchSoonMs
      const due = performance.now() - (this.#triedAt.get(key) ?? Number.NEGATIVE_INFINITY) >= waitMs
      if (!remote.available || !due) continue
      this.#triedAt.set(key, performance.now())
      void this.#fetch(key, remote)
      this.#v3 ??= new (load.v3().RemoteDocumentsV3)(this.#aggregation)
      void this.#v3.look(key, remote, () => this.#triedAt.has(key))
    }
  }

  /** Whether the server's document has paths of its group version. */
  #hasOwnPaths(key: string): boolean {
    const prefix = `/apis/${key}`
    return Object.keys(this.#fetched.get(key)?.document.paths ?? {}).some((path) =>
      path.startsWith(prefix),
    )
  }

  async #fetch(key: string, remote: Remote): Promise<void> {
    const { fetchDocument } = load.fetch()
    const known = this.#fetched.get(key)
    const found = await fetchDocument(this.#aggregation, remote, '/openapi/v2', known?.etag)
    if (typeof found === 'string' || !this.#triedAt.has(key)) return
    const document = documentIn(found.bytes)
    if (document === undefined) return
    this.#reasons.set(nameOf(key), known === undefined ? 'add' : 'update')
    this.#fetched.set(key, { etag: found.etag, document })
    this.#generation++
  }

  /** Wraps our documents: merges the remote ones into them. */
  over(ours: OpenApiDocuments): OpenApiDocuments {
    return {
      v2: () => this.#measured(ours),
      v2Protobuf: async () => {
        const merged = this.#fetched.size > 0 ? this.#mergedWith(await ours.v2()) : undefined
        if (merged === undefined) return ours.v2Protobuf()
        merged.protobuf ??= inProtobuf(merged.v2) ?? (await ours.v2Protobuf())
        return merged.protobuf
      },
      v3Index: () => after(ours.v3Index(), (own) => this.#v3?.index(own) ?? own),
      v3: (name) => this.#v3?.document(name) ?? ours.v3(name),
    }
  }

  /** Documents are made on request, so the time of the request is the time to make them. */
  async #measured(ours: OpenApiDocuments): Promise<Published> {
    const began = performance.now()
    const local = await ours.v2()
    const whole = this.#mergedWith(local)?.v2 ?? local
    if (this.#localHash !== undefined && this.#localHash !== local.hash) {
      this.#reasons.set(customKinds, 'update')
    }
    this.#localHash = local.hash
    const seconds = (performance.now() - began) / 1000
    for (const [name, reason] of this.#reasons) this.#built(name, reason, seconds)
    this.#reasons.clear()
    return whole
  }

  /**
   * The order of merging, which decides conflicts of names: groups by priority, then APIServices by
   * name.
   */
  #inOrder(): string[] {
    const priorities = new Map<string, number>()
    const groupOf = (key: string) => key.slice(0, key.indexOf('/'))
    const priorityOf = (key: string) => priorities.get(groupOf(key)) as number
    for (const key of this.#fetched.keys()) {
      const [group, version] = key.split('/')
      const own = this.#aggregation.priorityOf(group, version)?.group ?? 0
      priorities.set(group, Math.max(own, priorities.get(group) ?? 0))
    }
    return [...this.#fetched.keys()].sort(
      (a, b) => priorityOf(b) - priorityOf(a) || (nameOf(a) < nameOf(b) ? -1 : 1),
    )
  }

  #mergedWith(local: Published) {
    if (this.#fetched.size === 0) return undefined
    const of = `${local.hash} ${this.#generation} ${this.#aggregation.generation}`
    if (this.#merged?.of === of) return this.#merged
    let document = JSON.parse(local.bytes.toString()) as Document
    for (const key of this.#inOrder()) {
      const { document: other } = this.#fetched.get(key) as Fetched
      document = load.merge().mergeDocuments(document, other)
    }
    this.#merged = { of, v2: published(Buffer.from(JSON.stringify(document))), protobuf: undefined }
    return this.#merged
  }
}

/** The name of an APIService: `v1.example.com` for `example.com/v1`. */
const nameOf = (key: string): string => key.split('/').reverse().join('.')

const published = (bytes: Buffer): Published => ({
  bytes,
  hash: createHash('sha512').update(bytes).digest('hex').toUpperCase(),
})

/**
 * Undefined if a document has values that protobuf cannot express; protobuf clients then get only
 * our document.
 */
function inProtobuf({ bytes }: Published): Published | undefined {
  try {
    return published(load.protobuf().encodeDocumentV2(JSON.parse(bytes.toString()) as JsonObject))
  } catch {
    return undefined
  }
}

/** Rejects too deep nesting, which could overflow the stack during the merge. */
function documentIn(bytes: Buffer): Document | undefined {
  try {
    const document: unknown = decodeJson(bytes)
    return typeof document === 'object' && document !== null ? (document as Document) : undefined
  } catch {
    return undefined
  }
}
