/**
 * A client without TLS and sockets. Each call is a request to the server in this process. Methods
 * take objects, or references with `apiVersion`, `kind` and `metadata`, and reject with the Status
 * of the server.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { FailedRequest } from './failed-request.ts'
import type { InProcessCall, CallResponse } from './in-process-call.ts'
import { type Informer, type InformerOptions, startInformer } from './object-informer.ts'
import type { ListQuery, ObjectList, TypedObject, WatchOptions } from './object-reference.ts'
import { pathOf, ResourcePaths } from './resource-paths.ts'
import { type WatchEvent, watchEvents } from './watch-events.ts'

export interface WriteOptions {
  /** `status`, `scale` or another subresource. */
  readonly subresource?: string
  readonly fieldManager?: string
  readonly dryRun?: boolean
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

export type Patch = readonly object[] | object
/**
 * A patch that is a list is a JSON patch; an object is a merge patch unless the type says
 * otherwise.
 */
export type PatchType = 'json' | 'merge' | 'strategic'

export interface WaitOptions {
  /** Rejects after this time. */
  readonly timeoutMs?: number
}

/** The default timeout of a wait; most changes arrive within a few milliseconds. */
const waitMsMax = 10_000
const defaultManager = 'test'
const patchTypes: Record<PatchType | 'apply', string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

function queryText(query: object): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  if (entries.length === 0) return ''
  return `?${new URLSearchParams(Object.fromEntries(entries))}`
}

const writeQuery = ({ fieldManager, dryRun }: WriteOptions, manager = fieldManager) => ({
  fieldManager: manager,
  dryRun: dryRun ? 'All' : undefined,
})

export class TestClient {
  readonly #send: (call: InProcessCall) => Promise<CallResponse>
  readonly #paths: ResourcePaths

  constructor(send: (call: InProcessCall) => Promise<CallResponse>, origin?: TestClient) {
    this.#send = send
    const known = origin === undefined ? undefined : origin.#paths
    this.#paths = new ResourcePaths((path) => this.request('GET', path), known)
  }

  /** Sends any request, for operations without a method here. Resolves with the parsed body. */
  async request(
    method: string,
    url: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<unknown> {
    const text = await this.#text({
      method,
      url,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    })
    return text === '' ? undefined : JSON.parse(text)
  }

  async #text(call: InProcessCall): Promise<string> {
    const response = await this.#send(call)
    const text = await response.text()
    if (response.status >= 300)
      throw new FailedRequest(call.method, call.url, response.status, text)
    return text
  }

  async #path(named: TypedObject, subresource = '', withName = true): Promise<string> {
    const { apiVersion, kind, metadata = {} } = named
    if (!apiVersion || !kind)
      throw new TypeError('an object or a reference needs an apiVersion and a kind')
    const path = await this.#paths.of(apiVersion, kind)
    return pathOf(path, metadata.namespace, withName ? metadata.name : '', subresource)
  }

  async get<T extends TypedObject = KubeObject>(
    reference: TypedObject,
    subresource = '',
  ): Promise<T> {
    return (await this.request('GET', await this.#path(reference, subresource))) as T
  }

  /** Lists the objects of a kind, in the namespace of the reference or in all. */
  async list(reference: TypedObject, query: ListQuery = {}): Promise<ObjectList> {
    const path = await this.#path(reference, '', false)
    return (await this.request('GET', `${path}${queryText(query)}`)) as ObjectList
  }

  async create<T extends TypedObject>(object: T, options: WriteOptions = {}): Promise<T> {
    const { subresource = '' } = options
    const path = await this.#path(object, subresource, subresource !== '')
    return (await this.request('POST', `${path}${queryText(writeQuery(options))}`, object)) as T
  }

  async update<T extends TypedObject>(object: T, options: WriteOptions = {}): Promise<T> {
    const path = await this.#path(object, options.subresource)
    return (await this.request('PUT', `${path}${queryText(writeQuery(options))}`, object)) as T
  }

  async patch<T extends TypedObject = KubeObject>(
    reference: TypedObject,
    patch: Patch,
    options: WriteOptions & { readonly type?: PatchType } = {},
  ): Promise<T> {
    const type = options.type ?? (Array.isArray(patch) ? 'json' : 'merge')
    const path = await this.#path(reference, options.subresource)
    const headers = { 'content-type': patchTypes[type] }
    const url = `${path}${queryText(writeQuery(options))}`
    return (await this.request('PATCH', url, patch, headers)) as T
  }

  /** Server-side apply. `force` takes over fields that other managers own. */
  async apply<T extends TypedObject>(
    object: T,
    options: WriteOptions & { readonly force?: boolean } = {},
  ): Promise<T> {
    const path = await this.#path(object, options.subresource)
    const { fieldManager = defaultManager, force } = options
    const query = queryText({ ...writeQuery(options, fieldManager), force })
    const headers = { 'content-type': patchTypes.apply }
    return (await this.request('PATCH', `${path}${query}`, object, headers)) as T
  }

  async delete(reference: TypedObject, options: DeleteOptions = {}): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options }
    await this.request('DELETE', await this.#path(reference), body)
  }

  /** Deletes all objects of a kind that the query selects. */
  async deleteCollection(reference: TypedObject, query: ListQuery = {}): Promise<void> {
    const path = await this.#path(reference, '', false)
    await this.request('DELETE', `${path}${queryText(query)}`)
  }

  /** Ends when the loop over it ends, when the signal aborts or when the server ends the watch. */
  async *watch(
    reference: TypedObject,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent, void, undefined> {
    const { signal, ...query } = options
    const { name } = reference.metadata ?? {}
    const fieldSelector = name ? `metadata.name=${name}` : query.fieldSelector
    const path = await this.#path(reference, '', false)
    const url = `${path}${queryText({ ...query, fieldSelector, watch: true })}`
    const response = await this.#send({
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
      signal,
    })
    if (response.status >= 300)
      throw new FailedRequest('GET', url, response.status, await response.text())
    yield* watchEvents(url, response.chunks)
  }

  /**
   * Follows a kind: lists, watches, and restarts when a watch ends. Resolves when the list is
   * complete.
   */
  informer(reference: TypedObject, options: InformerOptions = {}): Promise<Informer> {
    return startInformer(this, reference, options)
  }

  /**
   * Resolves with the object when the condition is true. The condition gets `undefined` while the
   * object does not exist. Without a condition, waits until the object exists.
   */
  async waitFor<T extends TypedObject = KubeObject>(
    reference: TypedObject,
    condition: (object: T | undefined) => boolean = (object) => object !== undefined,
    { timeoutMs = waitMsMax }: WaitOptions = {},
  ): Promise<T> {
    const { apiVersion, kind, metadata: { name = '', namespace = '' } = {} } = reference
    let last: T | undefined
    const signal = AbortSignal.timeout(timeoutMs)
    const query = { fieldSelector: `metadata.name=${name}` }
    while (!signal.aborted) {
      const list = await this.list(reference, query)
      last = list.items[0] as T | undefined
      // Items of a list have neither kind nor apiVersion.
      if (last !== undefined) last = { ...last, apiVersion, kind }
      if (condition(last)) return last as T
      const { resourceVersion } = list.metadata
      try {
        for await (const event of this.watch(reference, { resourceVersion, signal })) {
          if (event.type === 'BOOKMARK') continue
          last = event.type === 'DELETED' ? undefined : (event.object as T)
          if (condition(last)) return last as T
        }
      } catch (error) {
        if (!signal.aborted && !(error instanceof FailedRequest && error.code === 410)) throw error
      }
    }
    const place = namespace === '' ? name : `${namespace}/${name}`
    const shown = last === undefined ? 'does not exist' : `is ${JSON.stringify(last)}`
    throw new Error(`${kind} ${place} did not meet the condition in ${timeoutMs} ms: it ${shown}`)
  }
}
