/**
 * Sections 1 to 3 of the specification, sentence by sentence: what the service does, its objects,
 * and how they go.
 */
import assert from 'node:assert/strict'
import { core, maps, merge, type Row, specify, told } from './specification.fixture.ts'

const table = (version: string) => ({
  accept: `application/json;as=Table;g=meta.k8s.io;v=${version}`,
})
const protobuf = 'application/vnd.kubernetes.protobuf'
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

const service: Row[] = [
  [
    '1.2',
    'resources are created, read, replaced, patched and deleted by POST, GET, PUT, PATCH and DELETE',
    async (on) => {
      const made = await on.expect(201, 'POST', maps, {
        metadata: { name: 'crud' },
        data: { a: '1' },
      })
      const read = await on.expect(200, 'GET', `${maps}/crud`)
      assert.deepEqual(read.body, made.body)
      const put = await on.expect(200, 'PUT', `${maps}/crud`, { ...made.body, data: { a: '2' } })
      assert.equal(put.body.data.a, '2')
      const patched = await on.expect(200, 'PATCH', `${maps}/crud`, { data: { b: '3' } }, merge)
      assert.deepEqual(patched.body.data, { a: '2', b: '3' })
      await on.expect(200, 'DELETE', `${maps}/crud`)
      await on.expect(404, 'GET', `${maps}/crud`)
    },
  ],
  [
    '1.3',
    'objects have subresources: a pod is bound to a node by one',
    async (on) => {
      const pods = `${core}/namespaces/default/pods`
      await on.expect(201, 'POST', pods, pod('bound'))
      const binding = { metadata: { name: 'bound' }, target: { kind: 'Node', name: 'n1' } }
      await on.expect(201, 'POST', `${pods}/bound/binding`, binding)
      const { body } = await on.expect(200, 'GET', `${pods}/bound`)
      assert.equal(body.spec.nodeName, 'n1')
    },
  ],
  [
    '1.4',
    'representations are JSON unless asked otherwise, protobuf, and a table',
    async (on) => {
      const path = `${core}/namespaces/default`
      const types = ['*/*', protobuf, table('v1beta1').accept, 'application/yaml']
      const got = await Promise.all(
        types.map(async (accept) => {
          const { headers } = await on.expect(200, 'GET', path, undefined, { accept })
          return String(headers?.['content-type']).split(';')[0]
        }),
      )
      assert.deepEqual(got, ['application/json', protobuf, 'application/json', 'application/yaml'])
      const plain = await on.expect(200, 'GET', path)
      assert.match(String(plain.headers?.['content-type']), /^application\/json/)
    },
  ],
  [
    '1, verbs',
    'several resources cannot be sent together',
    async (on) => {
      const one = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'together' } }
      for (const kind of ['List', 'ConfigMapList']) {
        await on.expect(400, 'POST', maps, { apiVersion: 'v1', kind, items: [one] })
      }
      await on.expect(400, 'POST', maps, [one])
      await on.expect(404, 'GET', `${maps}/together`)
    },
  ],
  [
    '1, terms',
    'a virtual resource is an operation: it is posted, answered, and cannot be read',
    async (on) => {
      const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
      const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' }
      const review = { spec: { user: 'nobody', resourceAttributes } }
      const { body } = await on.expect(201, 'POST', reviews, review)
      assert.equal(body.status.allowed, false)
      await on.expect(405, 'GET', reviews)
      await on.expect(404, 'GET', `${reviews}/some`)
    },
  ],
  [
    '1, scopes',
    'every resource is of the cluster or of a namespace, and discovery says which',
    async (on) => {
      const { body } = await on.expect(200, 'GET', core)
      const scopes = new Map(
        body.resources.map((one: { name: string; namespaced: boolean }) => [
          one.name,
          one.namespaced,
        ]),
      )
      assert.deepEqual(
        ['namespaces', 'nodes', 'pods', 'secrets'].map((name) => scopes.get(name)),
        [false, false, true, true],
      )
      await on.expect(404, 'GET', `${core}/namespaces/default/nodes`)
      await on.expect(405, 'POST', `${core}/configmaps`, { metadata: { name: 'nowhere' } })
    },
  ],
  [
    '1, scopes',
    'what is in a namespace goes with it',
    async (on) => {
      const namespaces = `${core}/namespaces`
      await on.expect(201, 'POST', namespaces, { metadata: { name: 'leaving' } })
      const inside = `${namespaces}/leaving/configmaps`
      await on.expect(201, 'POST', inside, { metadata: { name: 'inside' } })
      const { body } = await on.expect(200, 'DELETE', `${namespaces}/leaving`)
      assert.equal(body.status.phase, 'Terminating')
      const late = await on.ask('POST', inside, { metadata: { name: 'late' } })
      assert.ok([403, 404].includes(late.status), late.text)
      for (let i = 0; i < 1000; i++) {
        const { status } = await on.ask('GET', `${namespaces}/leaving`)
        if (status === 404) break
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      await on.expect(404, 'GET', `${namespaces}/leaving`)
      await on.expect(404, 'GET', `${inside}/inside`)
    },
  ],
]

const metadata: Row[] = [
  [
    '2.1',
    'kind and apiVersion are on every object: v1 for the core, group and version for others',
    async (on) => {
      const { body } = await on.expect(200, 'GET', `${core}/namespaces/default`)
      assert.deepEqual([body.kind, body.apiVersion], ['Namespace', 'v1'])
      const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles/admin'
      const { body: role } = await on.expect(200, 'GET', roles)
      assert.deepEqual(
        [role.kind, role.apiVersion],
        ['ClusterRole', 'rbac.authorization.k8s.io/v1'],
      )
    },
  ],
  [
    '2.1',
    'a name is unique in its namespace; generateName makes one that is new each time',
    async (on) => {
      await on.map('unique')
      const { body } = await on.expect(409, 'POST', maps, { metadata: { name: 'unique' } })
      assert.equal(body.reason, 'AlreadyExists')
      const names = new Set<string>()
      for (let i = 0; i < 5; i++) {
        const body = { metadata: { generateName: 'made-' } }
        const made = await on.expect(201, 'POST', maps, body)
        assert.match(made.body.metadata.name, /^made-[a-z0-9]{5}$/)
        names.add(made.body.metadata.name)
      }
      assert.equal(names.size, 5)
    },
  ],
  [
    '2.1',
    'uid and creationTimestamp are the server’s, whatever a client says',
    async (on) => {
      const said = { uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', name: 'stamped' }
      const { body } = await on.expect(201, 'POST', maps, { metadata: said })
      assert.match(body.metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-/)
      assert.ok(Math.abs(Date.parse(body.metadata.creationTimestamp) - Date.now()) < 60_000)
      const changed = { ...body, metadata: { ...body.metadata, creationTimestamp: null } }
      const put = await on.expect(200, 'PUT', `${maps}/stamped`, changed)
      assert.equal(put.body.metadata.creationTimestamp, body.metadata.creationTimestamp)
      await on.expect(200, 'DELETE', `${maps}/stamped`)
      const again = await on.expect(201, 'POST', maps, { metadata: { name: 'stamped' } })
      assert.notEqual(again.body.metadata.uid, body.metadata.uid)
    },
  ],
  [
    '2.1',
    'resourceVersion is of the last change: a write that changes nothing keeps it',
    async (on) => {
      const first = await on.map('versioned', { data: { value: '1' } })
      assert.equal(await on.touch('versioned', '1'), first)
      const second = await on.touch('versioned', '2')
      assert.notEqual(second, first)
      const { body } = await on.expect(200, 'GET', `${maps}/versioned`)
      assert.equal(body.metadata.resourceVersion, second)
    },
  ],
  [
    '2.1',
    'every object of every list has a resourceVersion and a uid',
    async (on) => {
      const lists = ['namespaces', 'serviceaccounts', 'services', 'configmaps', 'secrets']
      for (const list of lists) {
        const { body } = await on.expect(200, 'GET', `${core}/${list}`)
        for (const { metadata } of body.items) {
          assert.equal(typeof metadata.resourceVersion, 'string', list)
          assert.notEqual(metadata.resourceVersion, '', list)
          assert.notEqual(metadata.uid ?? '', '', list)
        }
      }
    },
  ],
  [
    '2.1',
    'labels and annotations are maps of strings to strings',
    async (on) => {
      const wrong = [{ labels: { a: 1 } }, { annotations: { a: {} } }, { labels: ['a'] }]
      for (const metadata of wrong) {
        await on.expect(400, 'POST', maps, { metadata: { name: 'wrong', ...metadata } })
      }
    },
  ],
  [
    '2.1',
    'managedFields is kept by the server from the first write on',
    async (on) => {
      const body = { metadata: { name: 'managed' }, data: { a: '1' } }
      const made = await on.expect(201, 'POST', `${maps}?fieldManager=me`, body)
      const [entry] = made.body.metadata.managedFields
      assert.deepEqual(
        [entry.manager, entry.operation, entry.apiVersion, entry.fieldsType],
        ['me', 'Update', 'v1', 'FieldsV1'],
      )
      assert.match(entry.time, rfc3339)
      assert.deepEqual(entry.fieldsV1, { 'f:data': { '.': {}, 'f:a': {} } })
    },
  ],
  [
    '2.2',
    'a resourceVersion comes back unchanged from whoever is given it, and decides who wins',
    async (on) => {
      const first = await on.map('raced')
      await on.touch('raced', 'other')
      const metadata = { name: 'raced', resourceVersion: first }
      const { body } = await on.expect(409, 'PUT', `${maps}/raced`, { metadata })
      assert.equal(body.reason, 'Conflict')
    },
  ],
]

const lists: Row[] = [
  [
    '2.3',
    'a list is of its kind’s list kind, all items of that kind, at one version',
    async (on) => {
      await on.map('listed')
      const { body } = await on.expect(200, 'GET', maps)
      assert.deepEqual([body.kind, body.apiVersion], ['ConfigMapList', 'v1'])
      assert.match(body.metadata.resourceVersion, /^\d+$/)
      assert.ok(body.items.length > 0)
      const items = await on.expect(200, 'GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles')
      assert.equal(items.body.kind, 'ClusterRoleList')
      assert.equal(items.body.apiVersion, 'rbac.authorization.k8s.io/v1')
    },
  ],
  [
    '2.3',
    'an empty list has an empty array, not null',
    async (on) => {
      const { body } = await on.expect(200, 'GET', `${core}/namespaces/kube-public/pods`)
      assert.deepEqual(body.items, [])
    },
  ],
  [
    '2.3',
    'continue and remainingItemCount: on a chunk that is not the last, and without selectors',
    async (on) => {
      const place = `${core}/namespaces/kube-node-lease/configmaps`
      for (const name of ['a', 'b', 'c', 'd']) {
        await on.expect(201, 'POST', place, { metadata: { name, labels: { chunk: 'yes' } } })
      }
      // The root certificate is put there by the server itself.
      const { body: all } = await on.expect(200, 'GET', place)
      const count = all.items.length
      assert.equal(all.metadata.continue ?? '', '')
      assert.equal(all.metadata.remainingItemCount, undefined)
      const { body: part } = await on.expect(200, 'GET', `${place}?limit=1`)
      assert.notEqual(part.metadata.continue ?? '', '')
      assert.equal(part.metadata.remainingItemCount, count - 1)
      const last = `${place}?limit=10&continue=${part.metadata.continue}`
      const { body: rest } = await on.expect(200, 'GET', last)
      assert.equal(rest.metadata.continue ?? '', '')
      assert.equal(rest.metadata.remainingItemCount, undefined)
      for (const selector of ['labelSelector=chunk', 'fieldSelector=metadata.name!=zzz']) {
        const { body } = await on.expect(200, 'GET', `${place}?limit=1&${selector}`)
        assert.notEqual(body.metadata.continue ?? '', '', selector)
        assert.equal(body.metadata.remainingItemCount, undefined, selector)
      }
    },
  ],
  [
    '2.3',
    'there is no kind called List',
    async (on) => {
      const { body } = await on.expect(200, 'GET', core)
      assert.ok(!body.resources.some(({ kind }: { kind: string }) => kind === 'List'))
    },
  ],
  [
    '2.4',
    'a table has its kind, its version and columns with name and type',
    async (on) => {
      for (const version of ['v1beta1', 'v1']) {
        const path = `${core}/namespaces`
        const { body } = await on.expect(200, 'GET', path, undefined, table(version))
        assert.deepEqual([body.kind, body.apiVersion], ['Table', `meta.k8s.io/${version}`])
        for (const column of body.columnDefinitions) {
          assert.deepEqual([typeof column.name, typeof column.type], ['string', 'string'])
        }
        for (const { cells } of body.rows) assert.equal(cells.length, body.columnDefinitions.length)
      }
    },
  ],
  [
    '2.4',
    'kinds without columns of their own show Name and Created At',
    async (on) => {
      const path = '/apis/storage.k8s.io/v1beta1/csistoragecapacities'
      const { body } = await on.expect(200, 'GET', path, undefined, table('v1beta1'))
      assert.deepEqual(
        body.columnDefinitions.map(({ name, type }: { name: string; type: string }) => [
          name,
          type,
        ]),
        [
          ['Name', 'string'],
          ['Created At', 'date'],
        ],
      )
    },
  ],
  [
    '2.5',
    'an event has a type and an object of the kind asked for',
    async (on) => {
      const from = await on.map('evented')
      await on.touch('evented', '1')
      const path = `${maps}?resourceVersion=${from}&fieldSelector=metadata.name=evented`
      const { events } = await on.watch(path)
      assert.deepEqual(told(events), ['MODIFIED evented'])
      assert.deepEqual(Object.keys(events[0]).sort(), ['object', 'type'])
      assert.deepEqual([events[0].object.kind, events[0].object.apiVersion], ['ConfigMap', 'v1'])
    },
  ],
]

const deletions: Row[] = [
  [
    '3',
    'the first delete of what has finalizers sets deletionTimestamp to now and keeps the object',
    async (on) => {
      await on.map('held', { metadata: { finalizers: ['example.com/a', 'example.com/b'] } })
      const { body } = await on.expect(200, 'DELETE', `${maps}/held`)
      const { deletionTimestamp } = body.metadata
      assert.match(deletionTimestamp, rfc3339)
      assert.ok(Math.abs(Date.parse(deletionTimestamp) - Date.now()) < 60_000)
      // A second delete changes nothing.
      const again = await on.expect(200, 'DELETE', `${maps}/held`)
      assert.equal(again.body.metadata.deletionTimestamp, deletionTimestamp)
      assert.equal(again.body.metadata.resourceVersion, body.metadata.resourceVersion)
    },
  ],
  [
    '3',
    'finalizers go in any order, may be reordered, and none is added; with the last the object is gone',
    async (on) => {
      await on.map('ordered', { metadata: { finalizers: ['example.com/a', 'example.com/b'] } })
      await on.expect(200, 'DELETE', `${maps}/ordered`)
      const set = (finalizers: string[]) =>
        on.ask('PATCH', `${maps}/ordered`, { metadata: { finalizers } }, merge)
      assert.equal((await set(['example.com/b', 'example.com/a'])).status, 200)
      assert.equal((await set(['example.com/b', 'example.com/new'])).status, 422)
      assert.equal((await set(['example.com/a'])).status, 200)
      await on.expect(200, 'GET', `${maps}/ordered`)
      assert.equal((await set([])).status, 200)
      await on.expect(404, 'GET', `${maps}/ordered`)
    },
  ],
  [
    '3',
    'while it is finalized an object can be changed, but not brought back',
    async (on) => {
      await on.map('doomed', { metadata: { finalizers: ['example.com/a'] } })
      await on.expect(200, 'DELETE', `${maps}/doomed`)
      await on.touch('doomed', 'still here')
      const back = { metadata: { deletionTimestamp: null } }
      const { body } = await on.expect(200, 'PATCH', `${maps}/doomed`, back, merge)
      assert.match(body.metadata.deletionTimestamp, rfc3339)
      await on.expect(409, 'POST', maps, { metadata: { name: 'doomed' } })
    },
  ],
  [
    '3',
    'watches see the mark as MODIFIED and the removal as DELETED',
    async (on) => {
      const from = await on.map('seen', { metadata: { finalizers: ['example.com/a'] } })
      await on.expect(200, 'DELETE', `${maps}/seen`)
      const empty = { metadata: { finalizers: null } }
      await on.expect(200, 'PATCH', `${maps}/seen`, empty, merge)
      const path = `${maps}?resourceVersion=${from}&fieldSelector=metadata.name=seen`
      const { events } = await on.watch(path)
      assert.deepEqual(told(events), ['MODIFIED seen', 'DELETED seen'])
    },
  ],
  [
    '3',
    'without finalizers the first delete removes',
    async (on) => {
      await on.map('plain')
      const { body } = await on.expect(200, 'DELETE', `${maps}/plain`)
      assert.deepEqual([body.kind, body.status], ['Status', 'Success'])
      await on.expect(404, 'GET', `${maps}/plain`)
    },
  ],
]

function pod(name: string) {
  return { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } }
}

specify('sections 1 to 3', [], [...service, ...metadata, ...lists, ...deletions])
