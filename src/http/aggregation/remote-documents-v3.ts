/**
 * The OpenAPI v3 documents of aggregated servers: for each group version the entry of the server's
 * index and its document, unchanged, with the server's hash. An unavailable server keeps its last
 * documents. For a server without v3, its whole v2 document is converted.
 */
import { createHash } from 'node:crypto'
import type { Published } from '#discovery/openapi/publisher.ts'
import type { Aggregation, Remote } from './aggregation.ts'
import { loadLater } from '#base/load-later.ts'
import { fetchDocument } from './fetch-document.ts'

const conversion = loadLater<typeof import('./convert-openapi.ts')>(
  import.meta.url,
  './convert-openapi',
)

interface Known {
  /** The ETag of the server's index. */
  readonly etag: string
  /** The ETag of the server's v2 document, if this document was converted from it. */
  readonly oldEtag?: string
  /** The URL of the document in the server's index. */
  readonly address: string
  readonly published: Published
}

type Paths = Record<string, { readonly serverRelativeURL?: unknown } | undefined>

const hashOf = (bytes: Buffer): string =>
  createHash('sha512').update(bytes).digest('hex').toUpperCase()

/** The name of a document: 'apis/metrics.k8s.io/v1beta1'. */
const nameOf = (key: string): string => (key.startsWith('/') ? `api${key}` : `apis/${key}`)

export class RemoteDocumentsV3 {
  readonly #aggregation: Aggregation
  /** By document name. */
  readonly #known = new Map<string, Known>()
  #index: { of: string; published: Published } | undefined

  constructor(aggregation: Aggregation) {
    this.#aggregation = aggregation
  }

  /** `key` is `group/version`. */
  forget(key: string): void {
    if (this.#known.delete(nameOf(key))) this.#index = undefined
  }

  /**
   * Fetches the document. `isThere` is called after the fetch: whether the server is still
   * registered.
   */
  async look(key: string, remote: Remote, isThere: () => boolean): Promise<void> {
    const name = nameOf(key)
    const before = this.#known.get(name)
    const index = await fetchDocument(this.#aggregation, remote, '/openapi/v3', before?.etag)
    if (index === 'missing') return this.#convert(key, remote, isThere)
    if (typeof index === 'string' || !isThere()) return
    const address = addressIn(index.bytes, name)
    if (address === undefined) return this.forget(key)
    if (address === before?.address) {
      this.#known.set(name, { ...before, etag: index.etag })
      return
    }
    const document = await fetchDocument(this.#aggregation, remote, address)
    if (typeof document === 'string' || !isThere()) return
    const { bytes } = document
    const hash = new URLSearchParams(address.slice(address.indexOf('?'))).get('hash')
    const published = { bytes, hash: hash ?? hashOf(bytes) }
    this.#known.set(name, { etag: index.etag, address, published })
    this.#index = undefined
  }

  async #convert(key: string, remote: Remote, isThere: () => boolean): Promise<void> {
    const name = nameOf(key)
    const before = this.#known.get(name)
    const found = await fetchDocument(this.#aggregation, remote, '/openapi/v2', before?.oldEtag)
    if (found === 'missing') this.forget(key)
    if (typeof found === 'string' || !isThere()) return
    const bytes = converted(found.bytes)
    if (bytes === undefined) return
    const published = { bytes, hash: hashOf(bytes) }
    this.#known.set(name, { etag: '', oldEtag: found.etag, address: '', published })
    this.#index = undefined
  }

  document(name: string): Published | undefined {
    return this.#known.get(name)?.published
  }

  /** Our index with the entries of the remote documents, sorted by name. */
  index(ours: Published): Published {
    if (this.#known.size === 0) return ours
    if (this.#index?.of === ours.hash) return this.#index.published
    const { paths } = JSON.parse(ours.bytes.toString()) as { paths: Paths }
    const all = new Map(Object.entries(paths))
    for (const [name, { published }] of this.#known)
      all.set(name, { serverRelativeURL: `/openapi/v3/${name}?hash=${published.hash}` })
    const sorted = [...all].sort(([a], [b]) => (a < b ? -1 : 1))
    const bytes = Buffer.from(JSON.stringify({ paths: Object.fromEntries(sorted) }))
    this.#index = { of: ours.hash, published: { bytes, hash: hashOf(bytes) } }
    return this.#index.published
  }
}

/** Only URLs of this form are fetched; hashes are hexadecimal. */
const followed = /^\/openapi\/v3\/[\w.\-/]+(\?hash=[\w-]{1,128})?$/

function converted(bytes: Buffer): Buffer | undefined {
  try {
    const document = conversion().convertDocument(JSON.parse(bytes.toString()))
    return Buffer.from(JSON.stringify(document))
  } catch {
    return undefined
  }
}

function addressIn(index: Buffer, name: string): string | undefined {
  let stated: { paths?: Paths } | null
  try {
    stated = JSON.parse(index.toString()) as { paths?: Paths } | null
  } catch {
    return undefined
  }
  const address = stated?.paths?.[name]?.serverRelativeURL
  return typeof address === 'string' && followed.test(address) ? address : undefined
}
