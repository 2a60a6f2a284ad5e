/** Which APIServices are made, repaired and removed, and which are left alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { conflict } from '#api/status-error.ts'
import type { ApiClient } from '#client/client.ts'
import { automanagedLabel } from './api-service.ts'
import { Registration } from './registration.ts'

const group = 'apiregistration.k8s.io'
const builtIn = [
  { group: '', version: 'v1', priority: { group: 18_000, version: 1 } },
  { group: 'apps', version: 'v1', priority: { group: 17_800, version: 15 } },
  { group, version: 'v1', priority: { group: 1, version: 1 } },
]

/** A store of APIServices and definitions, with the actions on it, and a reason to reject. */
class Store {
  readonly reader = new MemoryReader()
  readonly done: string[] = []
  readonly reports: string[] = []
  failure: Error | undefined
  #uids = 0

  readonly registration = new Registration({
    reader: this.reader,
    client: {
      create: async (_ref: unknown, _namespace: string, object: KubeObject) =>
        this.#write('create', object),
      update: async (_ref: unknown, object: KubeObject) => this.#write('update', object),
      delete: async (_ref: unknown, _namespace: string, name: string, { uid }: Loose) => {
        this.#act('delete', name)
        assert.equal(uid, (await this.get(name))?.metadata.uid)
        this.remove(name)
      },
    } as unknown as ApiClient,
    builtIn,
    report: (message) => this.reports.push(message),
  })

  #act(what: string, name: string | undefined): void {
    if (this.failure) throw this.failure
    this.done.push(`${what} ${name}`)
  }

  #write(what: string, object: KubeObject): KubeObject {
    this.#act(what, object.metadata.name)
    this.put(object)
    return object
  }

  put({ metadata, ...rest }: KubeObject): void {
    const uid = metadata.uid ?? `${++this.#uids}`
    this.reader.put(group, 'apiservices', { ...rest, metadata: { ...metadata, uid } })
  }

  get(name: string): Promise<KubeObject | undefined> {
    return this.reader.get(group, 'apiservices', '', name)
  }

  remove(name: string): void {
    this.reader.remove(group, 'apiservices', '', name)
  }

  /** Versions with a trailing minus are not served. */
  define(name: string, ...versions: string[]): void {
    const stated = versions.map((one) => ({
      name: one.replace('-', ''),
      served: !one.endsWith('-'),
    }))
    const spec = { group: 'example.com', versions: stated }
    this.reader.put('apiextensions.k8s.io', 'customresourcedefinitions', {
      metadata: { name },
      spec,
    })
  }

  undefine(name: string): void {
    this.reader.remove('apiextensions.k8s.io', 'customresourcedefinitions', '', name)
  }

  /** The writes since the last call. */
  async since(): Promise<string> {
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    return this.done.splice(0).sort().join(', ')
  }
}

const service = (name: string, management?: string, spec: Loose = {}): KubeObject => ({
  metadata: { name, ...(management && { labels: { [automanagedLabel]: management } }) },
  spec: {
    group: 'example.com',
    version: 'v1',
    groupPriorityMinimum: 1000,
    versionPriority: 100,
    ...spec,
  },
})
const custom = 'v1.example.com'
const own = 'create v1., create v1.apps'

const rows: [
  name: string,
  before: (store: Store) => void,
  atStart: string,
  after: (store: Store) => void,
  then: string,
][] = [
  [
    'a built-in version is registered once, and not again after a user deletes it',
    () => {},
    own,
    (s) => s.remove('v1.apps'),
    '',
  ],
  [
    'a definition is registered, and deregistered when it is deleted',
    (s) => s.define('a', 'v1', 'v2-'),
    `${own}, create ${custom}`,
    (s) => s.undefine('a'),
    `delete ${custom}`,
  ],
  [
    'a version is registered when it is served, and no longer when not',
    (s) => s.define('a', 'v1-'),
    own,
    (s) => s.define('a', 'v1', 'v2'),
    `create ${custom}, create v2.example.com`,
  ],
  [
    'one that two definitions serve stays while one of them does',
    (s) => {
      s.define('a', 'v1')
      s.define('b', 'v1')
    },
    `${own}, create ${custom}`,
    (s) => s.undefine('a'),
    '',
  ],
  [
    'an APIService of a definition is recreated after a user deletes it',
    (s) => s.define('a', 'v1'),
    `${own}, create ${custom}`,
    (s) => s.remove(custom),
    `create ${custom}`,
  ],
  [
    'what users registered is left alone, be it served here too',
    (s) => s.put(service(custom, undefined, { service: { name: 'x' } })),
    own,
    (s) => {
      s.define('a', 'v1')
      s.undefine('a')
    },
    '',
  ],
  [
    'what an earlier run left is removed',
    (s) => {
      s.put(service(custom, 'true'))
      s.put(service('v1.gone', 'onstart'))
    },
    `${own}, delete ${custom}, delete v1.gone`,
    () => {},
    '',
  ],
  [
    'what an earlier run left of what is there is kept',
    (s) => {
      s.define('a', 'v1')
      s.put(service(custom, 'true'))
    },
    own,
    () => {},
    '',
  ],
  [
    'what leads elsewhere is led back',
    (s) => {
      s.define('a', 'v1')
      s.put(service(custom, 'true', { service: { name: 'x' } }))
    },
    `${own}, update ${custom}`,
    (s) => s.put(service(custom, 'true', { versionPriority: 1 })),
    `update ${custom}`,
  ],
  [
    'one at the start that users call so later is theirs',
    () => {},
    own,
    (s) => s.put(service('v1.late', 'onstart')),
    '',
  ],
]
for (const [name, before, atStart, after, then] of rows) {
  test(name, async () => {
    const store = new Store()
    before(store)
    await store.registration.start()
    assert.equal(await store.since(), atStart)
    after(store)
    assert.equal(await store.since(), then)
    assert.deepEqual(store.reports, [])
    store.registration.stop()
    store.define('late', 'v9')
    assert.equal(await store.since(), '')
  })
}

test('an APIService has its discovery priority and its management label', async () => {
  const store = new Store()
  store.define('a', 'v1')
  await store.registration.start()
  const shown = async (name: string) => {
    const { metadata, spec } = (await store.get(name)) as KubeObject
    return [metadata.labels?.[automanagedLabel], spec]
  }
  assert.deepEqual(await shown('v1.'), [
    'onstart',
    { version: 'v1', groupPriorityMinimum: 18_000, versionPriority: 1 },
  ])
  const spec = {
    group: 'example.com',
    version: 'v1',
    groupPriorityMinimum: 1000,
    versionPriority: 100,
  }
  assert.deepEqual(await shown(custom), ['true', spec])
  store.registration.stop()
})

test('an unreachable store is reported and retried; a lost race is neither', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const store = new Store()
  await store.registration.start()
  await store.since()
  store.failure = new Error('away')
  store.define('a', 'v1')
  assert.equal(await store.since(), '')
  assert.deepEqual(store.reports, [`the APIService ${custom} cannot be kept`])
  store.failure = undefined
  t.mock.timers.tick(1000)
  assert.equal(await store.since(), `create ${custom}`)
  store.failure = conflict({ group, plural: 'apiservices' }, custom, 'modified')
  store.undefine('a')
  assert.equal(await store.since(), '')
  assert.equal(store.reports.length, 1)
  store.registration.stop()
})
