/**
 * A server without HTTP, in memory, for tests of verbs: the built-in kinds of a release, no
 * plugins, no controllers.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { AdmissionChain } from '#admission/chain.ts'
import { parseListOptions } from '#api/list-options.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { systemClock } from '#base/clock.ts'
import { builtInResources } from '#kinds/built-in.ts'
import { Catalog } from '#kinds/catalog.ts'
import { loadFacts } from '#kinds/facts.ts'
import { featureGates } from '#kinds/feature-gates.ts'
import { storedParser } from '#kinds/stored-form.ts'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import type { Storage } from '#storage/storage.ts'
import { WatchCache } from '#watchcache/watch-cache.ts'
import type { Answer } from './answer.ts'
import { create } from './create.ts'
import { type DeleteRequest, remove } from './delete.ts'
import { deleteOptionsFrom } from './delete-options.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { patch } from './patch.ts'
import { objectReader } from './reader.ts'
import type { Server, Target, WriteRequest, PatchRequest } from './server.ts'
import { update } from './update.ts'
import { watch } from './watch.ts'

const readFacts = (name: string) =>
  readFileSync(new URL(`../../facts/${name}`, import.meta.url), 'utf8')
const facts = loadFacts(readFacts)
const root = '/registry'

export interface Fixture {
  readonly server: Server
  readonly storage: Storage
  target(plural: string, name?: string, subresource?: string): Target
  request(target: Target, body?: unknown, options?: Partial<WriteRequest['options']>): WriteRequest
  create(
    plural: string,
    object: object,
    options?: Partial<WriteRequest['options']>,
  ): Promise<KubeObject>
  update(plural: string, object: KubeObject, subresource?: string): Promise<KubeObject>
  patch(
    plural: string,
    name: string,
    type: PatchRequest['patchType'],
    change: unknown,
  ): Promise<KubeObject>
  remove(plural: string, name: string, options?: object): Promise<KubeObject>
  get(plural: string, name: string, resourceVersion?: string): Promise<KubeObject>
  list(plural: string, query?: string): Promise<Answer & { is: 'list' }>
  watch(plural: string, query?: string): ReturnType<typeof watch>
  /** Waits until the watch cache contains all writes. */
  settled(): Promise<void>
  stop(): Promise<void>
}

/** Group and version of test resources outside the core group. */
const places: Record<string, [group: string, version: string]> = {
  customresourcedefinitions: ['apiextensions.k8s.io', 'v1'],
  deployments: ['apps', 'v1'],
  leases: ['coordination.k8s.io', 'v1'],
  poddisruptionbudgets: ['policy', 'v1beta1'],
  replicasets: ['apps', 'v1'],
  daemonsets: ['apps', 'v1'],
  statefulsets: ['apps', 'v1'],
  jobs: ['batch', 'v1'],
  resourceclaims: ['resource.k8s.io', 'v1'],
  localsubjectaccessreviews: ['authorization.k8s.io', 'v1'],
}

/** The release of most tests of verbs. */
const releaseSpecified = 22

/** `eventsMax`: the maximum number of events in memory. */
export async function startVerbs(
  storage: Storage = createMemoryStorage(),
  eventsMax = 100,
  release = releaseSpecified,
): Promise<Fixture> {
  const server = await makeServer(storage, eventsMax, release)
  const target = (plural: string, name = '', subresource = ''): Target => {
    const [group, version] = places[plural] ?? ['', 'v1']
    const kind = server.catalog.find(group, version, plural)
    if (kind === undefined) throw new Error(`there is no ${plural}`)
    return { kind, namespace: kind.namespaced ? 'default' : '', name, subresource }
  }
  const request = (
    at: Target,
    body?: unknown,
    options: Partial<WriteRequest['options']> = {},
  ): WriteRequest => ({
    target: at,
    user: { name: 'tester', uid: '', groups: [], extra: {} },
    body: () => structuredClone(body),
    options: {
      dryRun: false,
      fieldManager: 'test',
      fieldValidation: 'Ignore',
      force: false,
      ...options,
    },
    warnings: [],
    auditAnnotations: new Map(),
  })
  const objectOf = (answer: Answer): KubeObject => {
    if (answer.is !== 'object') return (answer.is === 'list' ? {} : answer.value) as KubeObject
    const object = server.parseStored(answer.view.cut.bytes)
    if (answer.view.revision !== undefined)
      object.metadata.resourceVersion = String(answer.view.revision)
    return object
  }
  return {
    server,
    storage,
    target,
    request,
    create: async (plural, object, options) =>
      objectOf(await create(server, request(target(plural), object, options))),
    update: async (plural, object, subresource) =>
      objectOf(
        await update(server, request(target(plural, object.metadata.name, subresource), object)),
      ),
    patch: async (plural, name, patchType, change) =>
      objectOf(
        await patch(server, {
          ...request(target(plural, name)),
          patchType,
          patchBytes: Buffer.from(JSON.stringify(change)),
        }),
      ),
    remove: async (plural, name, options = {}) => {
      const deletion: DeleteRequest = {
        ...request(target(plural, name)),
        deleteOptions: deleteOptionsFrom(options, 22),
      }
      return objectOf(await remove(server, deletion))
    },
    get: async (plural, name, resourceVersion = '') =>
      objectOf(await get(server, target(plural, name), resourceVersion)),
    list: async (plural, query = '') =>
      (await list(
        server,
        target(plural),
        parseListOptions(new URLSearchParams(query), 22),
      )) as Answer & { is: 'list' },
    watch: (plural, query = '') =>
      watch(server, target(plural), parseListOptions(new URLSearchParams(query), 22, true)),
    settled: async () => {
      await server.cache.freshness.reach(await storage.currentRevision(), 1000)
    },
    async stop() {
      await server.cache.close()
      await storage.close()
    },
  }
}

async function makeServer(storage: Storage, eventsMax: number, release: number): Promise<Server> {
  const gates = featureGates(JSON.parse(readFacts('features.json')), release, new Map() as never)
  if ('error' in gates) throw new Error(gates.error)
  const catalog = new Catalog([])
  for (const resource of builtInResources(facts, {
    release,
    feature: gates.enabled,
    root,
    serves: () => true,
  })) {
    catalog.add(resource)
  }
  const parseStored = storedParser(catalog)
  const limits = () => ({ eventsMax, ageMsMax: 300_000 })
  const report = (message: string, error: unknown) => console.error(message, error)
  const cache = new WatchCache(
    { storage, parse: parseStored, clock: systemClock, root, limits, report },
    await storage.currentRevision(),
  )
  cache.start()
  const reader = objectReader({ catalog, cache, storage, parseStored })
  const server = {
    catalog,
    storage,
    cache,
    reader,
    admission: new AdmissionChain([], reader),
    allocators: {
      reserve: async () => undefined,
      release: () => undefined,
      repair: async () => {},
    },
    clock: systemClock,
    release,
    feature: gates.enabled,
    parseStored,
    isVersion(apiVersion: string) {
      const [version = '', group = ''] = apiVersion.split('/').reverse()
      return facts.kindsOf(group, version, release).size > 0
    },
    typeNamed(apiVersion: string, kind: string) {
      const [version, group = ''] = apiVersion.split('/').reverse()
      const name = facts.kindsOf(group, version, release).get(kind)
      return name === undefined ? undefined : facts.typeOf(name, release)
    },
    newUid: randomUUID,
    randomSuffix: () => randomBytes(3).toString('hex').slice(0, 5),
    allowPrivileged: true,
    eventTtlSeconds: 3600,
    readsFromMemory: () => true,
  }
  return server as unknown as Server
}

/** The code and reason of the error with which the work rejects. */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.reason}`
    throw error
  }
}
