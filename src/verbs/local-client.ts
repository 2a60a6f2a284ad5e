/**
 * The client of controllers in this process. It calls the same verbs as HTTP requests, as a given
 * user.
 */
import type { User } from '#access/user.ts'
import { type ListQuery, listParameters, parseListOptions } from '#api/list-options.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { pathNotFound } from '#api/status-error.ts'
import { copyData } from '#base/copy-data.ts'
import { loadLater } from '#base/load-later.ts'
import type { ApiClient, ClientEvent, DeleteQuery, ResourceRef } from '#client/client.ts'
import { identityOf } from '#codec/cut-object.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Revision } from '#storage/storage.ts'
import type { Entry } from '#watchcache/entry.ts'
import type { Answer, ObjectView } from './answer.ts'
import { create } from './create.ts'
import { convertOne } from './current.ts'
import { remove } from './delete.ts'
import type { DeleteOptions } from './delete-options.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { patch } from './patch.ts'
import type { Server, Target, WriteRequest } from './server.ts'
import { shownObject } from './shown-object.ts'
import { specialVerbs } from './special.ts'
import { update } from './update.ts'
import { watch } from './watch.ts'

const loadDeleteCollection = loadLater<typeof import('./delete-collection.ts')>(
  import.meta.url,
  './delete-collection',
)

/** Finds the kind of a reference. */
export type FindKind = (ref: ResourceRef) => Kind | undefined

/** `manager`: the field manager of its writes. `find`: finds kinds that are not served. */
export function localClient(
  server: Server,
  user: User,
  manager: string,
  find: FindKind = ({ group, version, plural }) => server.catalog.find(group, version, plural),
): ApiClient {
  return new LocalClient(server, user, manager, find)
}

class LocalClient implements ApiClient {
  readonly #server: Server
  readonly #user: User
  readonly #manager: string
  readonly #find: FindKind

  constructor(server: Server, user: User, manager: string, find: FindKind) {
    this.#server = server
    this.#user = user
    this.#manager = manager
    this.#find = find
  }

  #target(ref: ResourceRef, namespace: string, name = '', subresource = ''): Target {
    const kind = this.#find(ref)
    if (kind === undefined) throw pathNotFound()
    return { kind, namespace: kind.namespaced ? namespace : '', name, subresource }
  }

  /** Copy the body, because verbs may change it and the caller may share it with others. */
  #request(target: Target, body: unknown): WriteRequest {
    return {
      target,
      user: this.#user,
      body: () => body,
      options: {
        dryRun: false,
        fieldManager: this.#manager,
        fieldValidation: 'Ignore',
        force: false,
      },
      warnings: [],
      auditAnnotations: new Map(),
    }
  }

  async #objectOf(answer: Answer): Promise<KubeObject> {
    if (answer.is === 'object') return this.#parse(answer.kind, answer.view)
    return (answer.is === 'list' ? {} : answer.value) as KubeObject
  }

  async #parse(kind: Kind, view: ObjectView): Promise<KubeObject> {
    const object = this.#server.parseStored(view.cut.bytes)
    const from = kind.resource.kindOf(view.apiVersion) ?? kind
    const requested = await convertOne(object, from, kind)
    if (view.revision !== undefined) requested.metadata.resourceVersion = String(view.revision)
    return requested
  }

  /** All clients in this process that receive a change share its object. */
  #shown(kind: Kind, entry: Entry, revision: Revision): KubeObject | Promise<KubeObject> {
    return shownObject(this.#server.parseStored, entry, kind, revision)
  }

  async get(ref: ResourceRef, namespace: string, name: string, subresource = '') {
    const target = this.#target(ref, namespace, name, subresource)
    if (subresource === '') return this.#objectOf(await get(this.#server, target, ''))
    const special = specialVerbs(target).get
    if (special === undefined) throw pathNotFound()
    return this.#objectOf(await special(this.#server, target, new URLSearchParams()))
  }

  async list(ref: ResourceRef, namespace: string, query: ListQuery = {}) {
    const target = this.#target(ref, namespace)
    const answer = await list(
      this.#server,
      target,
      parseListOptions(listParameters(query), this.#server.release),
    )
    if (answer.is !== 'list') throw pathNotFound()
    return {
      items: await Promise.all(answer.entries.map((entry) => this.#parse(target.kind, entry))),
      resourceVersion: String(answer.revision),
      continueToken: answer.continueToken,
    }
  }

  async create(
    ref: ResourceRef,
    namespace: string,
    object: KubeObject,
    subresource?: { name: string; of: string },
  ): Promise<KubeObject> {
    const target = this.#target(ref, namespace, subresource?.of, subresource?.name)
    const request = this.#request(target, copyData(object))
    return this.#objectOf(await (specialVerbs(target).create ?? create)(this.#server, request))
  }

  async update(ref: ResourceRef, object: KubeObject, subresource = ''): Promise<KubeObject> {
    const { name = '', namespace = '' } = object.metadata
    const target = this.#target(ref, namespace, name, subresource)
    const request = this.#request(target, copyData(object))
    return this.#objectOf(await (specialVerbs(target).update ?? update)(this.#server, request))
  }

  async patch(ref: ResourceRef, namespace: string, name: string, change: Loose, subresource = '') {
    const target = this.#target(ref, namespace, name, subresource)
    const request = {
      ...this.#request(target, undefined),
      patchType: 'merge' as const,
      patchBytes: Buffer.from(JSON.stringify(change)),
    }
    return this.#objectOf(await (specialVerbs(target).patch ?? patch)(this.#server, request))
  }

  async apply(ref: ResourceRef, object: KubeObject, fieldManager: string, subresource = '') {
    const { name = '', namespace = '' } = object.metadata
    const target = this.#target(ref, namespace, name, subresource)
    const { kind, apiVersion } = target.kind
    const plain = this.#request(target, undefined)
    const request = {
      ...plain,
      options: { ...plain.options, fieldManager, force: true },
      patchType: 'apply' as const,
      patchBytes: Buffer.from(JSON.stringify({ ...object, kind, apiVersion })),
    }
    return this.#objectOf(await (specialVerbs(target).patch ?? patch)(this.#server, request))
  }

  async delete(ref: ResourceRef, namespace: string, name: string, query: DeleteQuery = {}) {
    const target = this.#target(ref, namespace, name)
    await (specialVerbs(target).delete ?? remove)(this.#server, {
      ...this.#request(target, undefined),
      deleteOptions: deleteOptionsOf(query),
    })
  }

  async deleteCollection(ref: ResourceRef, namespace: string, query: ListQuery & DeleteQuery = {}) {
    const target = this.#target(ref, namespace)
    const request = { ...this.#request(target, undefined), deleteOptions: deleteOptionsOf(query) }
    const options = parseListOptions(listParameters(query), this.#server.release)
    await loadDeleteCollection().deleteCollection(this.#server, request, options)
  }

  async *watch(
    ref: ResourceRef,
    namespace: string,
    resourceVersion: string,
    signal: AbortSignal,
  ): AsyncGenerator<ClientEvent> {
    const target = this.#target(ref, namespace)
    const options = parseListOptions(
      new URLSearchParams({ resourceVersion, watch: 'true' }),
      this.#server.release,
    )
    const running = await watch(this.#server, target, options, true)
    const { watcher } = running
    let bell = () => {}
    const ring = () => bell()
    // A response without a wait is sent in this phase, so the next request is read after it.
    watcher.wake = () => process.nextTick(ring)
    const aborted = () => watcher.end()
    signal.addEventListener('abort', aborted, { once: true })
    try {
      for (const entry of running.initial) {
        yield { type: 'ADDED', object: await this.#shown(target.kind, entry, entry.revision) }
      }
      while (!signal.aborted) {
        const items = watcher.take()
        for (const { type, event } of items) {
          const entry = type === 'DELETED' ? event.previous : event.entry
          if (entry === undefined) continue
          const object =
            type === 'DELETED'
              ? { metadata: { ...identityOf(entry.cut), resourceVersion: String(event.revision) } }
              : this.#shown(target.kind, entry, event.revision)
          yield { type, object: await object }
        }
        // Changes that arrived meanwhile gave no signal, so wait only if the queue is empty.
        if (items.length > 0) continue
        if (watcher.ended || signal.aborted) return
        await new Promise<void>((resolve) => {
          bell = resolve
        })
      }
    } finally {
      signal.removeEventListener('abort', aborted)
      running.stop()
    }
  }

  untilStored(ref: ResourceRef, signal: AbortSignal, whenEmpty: () => void) {
    const { kind } = this.#target(ref, '')
    return this.#server.cache.untilStored(kind.resource, signal, whenEmpty)
  }

  async resources() {
    const found = []
    for (const resource of this.#server.catalog.resources()) {
      const kind = resource.kinds.at(0)
      if (kind === undefined) continue
      const { group, version, plural, namespaced } = kind
      const apiVersions = resource.kinds.map(({ apiVersion }) => apiVersion)
      const { verbs } = kind
      found.push({ group, version, plural, namespaced, kind: kind.kind, verbs, apiVersions })
    }
    return found
  }
}

function deleteOptionsOf(query: DeleteQuery): DeleteOptions {
  return {
    gracePeriodSeconds: query.gracePeriodSeconds,
    uid: query.uid,
    resourceVersion: query.resourceVersion,
    orphanDependents: undefined,
    propagationPolicy: query.propagationPolicy,
    dryRun: false,
  }
}
