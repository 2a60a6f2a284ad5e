/**
 * A client for aggregated servers with the same verbs as a local client. It sends each request over
 * the network as the user of the request. A response that no API server sends, such as a 404
 * without a Status, means that the server is unavailable. It does not mean that the object is
 * missing.
 */
import type { User } from '#access/user.ts'
import { type ListQuery, listParameters } from '#api/list-options.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError, serviceUnavailable } from '#api/status-error.ts'
import type { ClientEvent, DeleteQuery, ResourceRef } from '#client/client.ts'
import { PartialDiscovery } from '#client/client.ts'
import type { RemoteClient } from '#client/combined-client.ts'
import { placeOf } from '#http/connect/backend.ts'
import { BackendUnreachable, callBackend } from '#http/connect/call-backend.ts'
import type { Aggregation } from './aggregation.ts'
import { eventsIn, textOf } from './remote-answer.ts'
import type { RemoteKinds } from './remote-kinds.ts'
import { remoteUserHeaders } from './remote-user.ts'
import { NoSuchPlace } from './service-address.ts'

const callTimeoutMs = 30_000
const awayWords = 'the server is currently unable to handle the request'

interface Ask {
  readonly method: string
  readonly resource: ResourceRef
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
  readonly signal?: AbortSignal
}

export class RemoteApiClient implements RemoteClient {
  readonly #aggregation: Aggregation
  readonly #kinds: RemoteKinds
  readonly #user: User

  constructor(aggregation: Aggregation, kinds: RemoteKinds, user: User) {
    this.#aggregation = aggregation
    this.#kinds = kinds
    this.#user = user
  }

  serves({ group, version }: ResourceRef): boolean {
    return this.#aggregation.remoteOf(group, version) !== undefined
  }

  get(resource: ResourceRef, namespace: string, name: string, subresource = '') {
    const path = pathOf(resource, namespace, name, subresource)
    return this.#json<KubeObject>({ method: 'GET', resource, path })
  }

  async list(resource: ResourceRef, namespace: string, query: ListQuery = {}) {
    const path = `${pathOf(resource, namespace)}${queryText(query)}`
    const { items, metadata } = await this.#json<Loose>({ method: 'GET', resource, path })
    return {
      items: (items ?? []) as KubeObject[],
      resourceVersion: String(metadata?.resourceVersion ?? ''),
      continueToken: String(metadata?.continue ?? ''),
    }
  }

  create(
    resource: ResourceRef,
    namespace: string,
    object: KubeObject,
    subresource?: { name: string; of: string },
  ) {
    const path = pathOf(resource, namespace, subresource?.of, subresource?.name)
    return this.#json<KubeObject>({ method: 'POST', resource, path, body: object })
  }

  update(resource: ResourceRef, object: KubeObject, subresource = '') {
    const { namespace = '', name = '' } = object.metadata
    const path = pathOf(resource, namespace, name, subresource)
    return this.#json<KubeObject>({ method: 'PUT', resource, path, body: object })
  }

  patch(resource: ResourceRef, namespace: string, name: string, body: Loose, subresource = '') {
    const path = pathOf(resource, namespace, name, subresource)
    const contentType = 'application/merge-patch+json'
    return this.#json<KubeObject>({ method: 'PATCH', resource, path, body, contentType })
  }

  apply(resource: ResourceRef, body: KubeObject, manager: string, subresource = '') {
    const { namespace = '', name = '' } = body.metadata
    const query = new URLSearchParams({ fieldManager: manager, force: 'true' })
    const path = `${pathOf(resource, namespace, name, subresource)}?${query}`
    const contentType = 'application/apply-patch+yaml'
    return this.#json<KubeObject>({ method: 'PATCH', resource, path, body, contentType })
  }

  async delete(resource: ResourceRef, namespace: string, name: string, query: DeleteQuery = {}) {
    const path = pathOf(resource, namespace, name)
    await this.#json({ method: 'DELETE', resource, path, body: deleteOptions(query) })
  }

  async deleteCollection(
    resource: ResourceRef,
    namespace: string,
    query: ListQuery & DeleteQuery = {},
  ) {
    const path = `${pathOf(resource, namespace)}${queryText(query)}`
    await this.#json({ method: 'DELETE', resource, path, body: deleteOptions(query) })
  }

  async *watch(
    resource: ResourceRef,
    namespace: string,
    resourceVersion: string,
    signal: AbortSignal,
  ): AsyncGenerator<ClientEvent> {
    const query = new URLSearchParams({ watch: 'true', resourceVersion })
    const path = `${pathOf(resource, namespace)}?${query}`
    yield* eventsIn(await this.#call({ method: 'GET', resource, path, signal }), signal)
  }

  async resources() {
    const { found, away } = await this.#kinds.read()
    if (away.length === 0) return found
    const list = away.map((groupVersion) => `${groupVersion}: ${awayWords}`).join(', ')
    throw new PartialDiscovery(
      `unable to retrieve the complete list of server APIs: ${list}`,
      found,
    )
  }

  async #json<T>(ask: Ask): Promise<T> {
    const answer = await this.#call(ask)
    return JSON.parse(await textOf(answer)) as T
  }

  async #call({ method, resource, path, body, contentType, signal }: Ask) {
    const remote = this.#aggregation.remoteOf(resource.group, resource.version)
    if (!remote?.available || remote.trouble !== undefined) throw serviceUnavailable(awayWords)
    const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    try {
      const backend = await this.#aggregation.backendOf(remote)
      const answer = await callBackend({
        backend,
        method,
        path,
        headers: {
          ...remoteUserHeaders(this.#user),
          host: placeOf(backend),
          accept: 'application/json',
          ...(sent !== undefined && {
            'content-type': contentType ?? 'application/json',
            'content-length': String(sent.length),
          }),
        },
        body: sent,
        signal: signal ?? AbortSignal.timeout(callTimeoutMs),
      })
      const status = answer.statusCode ?? 0
      if (status < 200 || status > 299) throw failureIn(status, await textOf(answer))
      return answer
    } catch (error) {
      if (error instanceof BackendUnreachable || error instanceof NoSuchPlace)
        throw serviceUnavailable(error.message)
      throw error
    }
  }
}

function pathOf({ group, version, plural }: ResourceRef, namespace: string, name = '', sub = '') {
  const parts = ['apis', group, version, ...(namespace ? ['namespaces', namespace] : []), plural]
  if (name !== '') parts.push(name)
  if (sub !== '') parts.push(sub)
  return `/${parts.map(encodeURIComponent).join('/')}`
}

function queryText(query: ListQuery): string {
  const params = listParameters(query)
  return params.size === 0 ? '' : `?${params}`
}

function deleteOptions(query: DeleteQuery): Loose {
  const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds } = query
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
    ...(propagationPolicy && { propagationPolicy }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
  }
}

function failureIn(httpStatus: number, text: string): ApiError {
  try {
    const { kind, code, reason, message, details } = JSON.parse(text)
    if (kind === 'Status') return new ApiError(code ?? httpStatus, reason ?? '', message, details)
  } catch {
    // No API server sends such a response.
  }
  return serviceUnavailable(`${awayWords}: it answered with status ${httpStatus}`)
}
