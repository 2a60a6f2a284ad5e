/**
 * The OpenAPI documents of aggregated servers, fetched when they come and once a minute, merged into ours when somebody
 * asks. A server that is away keeps the document it had; one that is gone takes it along.
 */
import { createHash } from 'node:crypto'
import { loadLater } from '#base/load-later.ts'
import type { OpenApiPublisher, Published } from '#discovery/openapi/publisher.ts'
import type { JsonObject } from '#discovery/openapi/source.ts'
import type { Aggregation, Remote } from './aggregation.ts'
import type { Document } from './merge-openapi.ts'
import { remoteUserHeaders } from './remote-user.ts'
import { NoSuchPlace } from './service-address.ts'

/** Loaded once another server has documents. */
const later = <Module>(path: string) => loadLater<Module>(import.meta.url, path)
const load = {
  backend: later<typeof import('#http/connect/backend.ts')>('#http/connect/backend'),
  call: later<typeof import('#http/connect/call-backend.ts')>('#http/connect/call-backend'),
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

const lookMs = 1000
const refetchMs = 60_000
/** A server that has only just come may not describe itself yet. */
const refetchSoonMs = 3000
const fetchTimeoutMs = 30_000
/** Larger than any server's that is known; more would only fill memory. */
const documentBytesMax = 64 << 20

/** Who fetches. */
const fetcher = { name: 'system:aggregator', uid: '', groups: ['system:masters'], extra: {} }

export class RemoteDocuments {
  readonly #aggregation: Aggregation
  readonly #fetched = new Map<string, Fetched>()
  readonly #triedAt = new Map<string, number>()
  #generation = 0
  #timer: NodeJS.Timeout | undefined
  #merged: { of: string; v2: Published; protobuf: Published | undefined } | undefined

  constructor(aggregation: Aggregation) {
    this.#aggregation = aggregation
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
    for (const key of this.#fetched.keys()) {
      if (there.has(key)) continue
      this.#fetched.delete(key)
      this.#triedAt.delete(key)
      this.#generation++
    }
    for (const [key, remote] of there) {
      const waitMs = this.#tells(key) ? refetchMs : refetchSoonMs
      const due = performance.now() - (this.#triedAt.get(key) ?? Number.NEGATIVE_INFINITY) >= waitMs
      if (!remote.available || !due) continue
      this.#triedAt.set(key, performance.now())
      this.#fetch(key, remote).catch((error) => {
        const away =
          error instanceof load.call().BackendUnreachable ||
          error instanceof NoSuchPlace ||
          error instanceof SyntaxError
        if (!away) throw error
      })
    }
  }

  /** Whether its document says anything of its group. */
  #tells(key: string): boolean {
    const prefix = `/apis/${key}`
    return Object.keys(this.#fetched.get(key)?.document.paths ?? {}).some((path) =>
      path.startsWith(prefix),
    )
  }

  async #fetch(key: string, remote: Remote): Promise<void> {
    const backend = await this.#aggregation.backendOf(remote)
    const known = this.#fetched.get(key)
    const answer = await load.call().callBackend({
      backend,
      method: 'GET',
      path: '/openapi/v2',
      headers: {
        ...remoteUserHeaders(fetcher),
        host: load.backend().placeOf(backend),
        accept: 'application/json',
        ...(known !== undefined && { 'if-none-match': known.etag }),
      },
      signal: AbortSignal.timeout(fetchTimeoutMs),
    })
    if (answer.statusCode !== 200) {
      answer.resume()
      return
    }
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of answer) {
      size += (chunk as Buffer).length
      if (size > documentBytesMax) return
      chunks.push(chunk as Buffer)
    }
    const document = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Document
    this.#fetched.set(key, { etag: answer.headers.etag ?? '', document })
    this.#generation++
  }

  /** Ours with theirs in it. */
  over(ours: OpenApiDocuments): OpenApiDocuments {
    return {
      v2: () => this.#mergedWith(ours)?.v2 ?? ours.v2(),
      v2Protobuf: () => {
        const merged = this.#mergedWith(ours)
        if (merged === undefined) return ours.v2Protobuf()
        merged.protobuf ??= published(
          load.protobuf().encodeDocumentV2(JSON.parse(merged.v2.bytes.toString()) as JsonObject),
        )
        return merged.protobuf
      },
      v3Index: () => ours.v3Index(),
      v3: (name) => ours.v3(name),
    }
  }

  #mergedWith(ours: OpenApiDocuments) {
    if (this.#fetched.size === 0) return undefined
    const local = ours.v2()
    const of = `${local.hash} ${this.#generation}`
    if (this.#merged?.of === of) return this.#merged
    let document = JSON.parse(local.bytes.toString()) as Document
    for (const [key, fetched] of this.#fetched) {
      document = load
        .merge()
        .mergeDocuments(document, fetched.document, key.slice(0, key.indexOf('/')))
    }
    this.#merged = { of, v2: published(Buffer.from(JSON.stringify(document))), protobuf: undefined }
    return this.#merged
  }
}

const published = (bytes: Buffer): Published => ({
  bytes,
  hash: createHash('sha512').update(bytes).digest('hex').toUpperCase(),
})
