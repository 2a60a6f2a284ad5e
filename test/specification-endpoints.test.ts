/**
 * Sections 4.1 to 4.4 of the specification, sentence by sentence: paths, methods, query parameters,
 * content types.
 */
import assert from 'node:assert/strict'
import { until } from '#base/until.fixture.ts'
import { core, maps, merge, type Row, specify, told, type Wire } from './specification.fixture.ts'

const inDefault = `${core}/namespaces/default`
const protobuf = 'application/vnd.kubernetes.protobuf'
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1beta1'
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const apps = '/apis/apps/v1'

/** What a path answers: `200 PodList`. */
async function answered(on: Wire, method: string, path: string, body?: unknown, headers = {}) {
  const answer = await on.ask(method, path, body, headers)
  return `${answer.status} ${answer.body?.kind ?? ''}`
}

const reads: [path: string, expected: string][] = [
  [`${rbac}/clusterroles`, '200 ClusterRoleList'],
  [`${apps}/deployments`, '200 DeploymentList'],
  [`${rbac}/clusterroles/admin`, '200 ClusterRole'],
  [`${apps}/namespaces/default/deployments`, '200 DeploymentList'],
  [`${apps}/namespaces/default/deployments/read`, '200 Deployment'],
  [`${core}/nodes/read/status`, '200 Node'],
  [`${apps}/namespaces/default/deployments/read/status`, '200 Deployment'],
  [`${apps}/namespaces/default/deployments/read/scale`, '200 Scale'],
  [`${core}/namespaces`, '200 NamespaceList'],
  [`${core}/namespaces/default`, '200 Namespace'],
  [`${core}/namespaces/default/status`, '200 Namespace'],
  [`${core}/pods`, '200 PodList'],
  [`${core}/services`, '200 ServiceList'],
  [`${inDefault}/pods`, '200 PodList'],
  [`${core}/namespaces/missing/pods`, '200 PodList'],
  // A subresource is of one object.
  [`${core}/pods/status`, '404 Status'],
  [`${apps}/deployments/read/scale`, '404 Status'],
  [`${inDefault}/pods/missing/nothing`, '404 Status'],
  [`${core}/nothing`, '404 Status'],
  [`${inDefault}/nothing`, '404 Status'],
  ['/apis/apps/v9/deployments', '404 Status'],
  ['/apis/none.example.com/v1/things', '404 '],
]

const paths: Row[] = [
  [
    '4.1',
    'every shape of a path to read',
    async (on) => {
      const labels = { app: 'read' }
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
      const spec = { selector: { matchLabels: labels }, template }
      const deployments = `${apps}/namespaces/default/deployments`
      await on.expect(201, 'POST', deployments, { metadata: { name: 'read' }, spec })
      await on.expect(201, 'POST', `${core}/nodes`, { metadata: { name: 'read' } })
      const got = await Promise.all(
        reads.map(async ([path]) => `${path} ${await answered(on, 'GET', path)}`),
      )
      assert.deepEqual(
        got,
        reads.map(([path, expected]) => `${path} ${expected}`),
      )
    },
  ],
  [
    '4.1',
    'a collection without its namespace is over all namespaces, one with it is of that namespace',
    async (on) => {
      await on.expect(201, 'POST', maps, { metadata: { name: 'across' } })
      const other = `${core}/namespaces/kube-system/configmaps`
      await on.expect(201, 'POST', other, { metadata: { name: 'across' } })
      const select = 'fieldSelector=metadata.name=across'
      const all = await on.expect(200, 'GET', `${core}/configmaps?${select}`)
      const places = all.body.items.map((one: Named) => one.metadata.namespace)
      assert.deepEqual(places, ['default', 'kube-system'])
      const one = await on.expect(200, 'GET', `${other}?${select}`)
      assert.equal(one.body.items.length, 1)
    },
  ],
  [
    '4.2',
    'POST is for collections, PUT and PATCH for resources, DELETE for both',
    async (on) => {
      const body = { metadata: { name: 'shapes' } }
      const rows: [string, string, object | undefined, string][] = [
        ['POST', maps, body, '201 ConfigMap'],
        ['POST', `${maps}/shapes`, body, '405 Status'],
        ['PUT', maps, body, '405 Status'],
        ['PATCH', maps, body, '405 Status'],
        ['PUT', `${maps}/shapes`, body, '200 ConfigMap'],
        ['PATCH', `${maps}/shapes`, { data: { a: '1' } }, '200 ConfigMap'],
        ['DELETE', `${maps}/shapes`, undefined, '200 Status'],
        ['DELETE', `${maps}/shapes`, undefined, '404 Status'],
        ['PATCH', `${maps}/shapes`, { data: { a: '1' } }, '404 Status'],
      ]
      for (const [method, path, sent, expected] of rows) {
        const headers = method === 'PATCH' ? merge : {}
        assert.equal(await answered(on, method, path, sent, headers), expected, `${method} ${path}`)
      }
    },
  ],
  [
    '4.2',
    'a body of another kind than the path’s is refused',
    async (on) => {
      const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }
      assert.equal(await answered(on, 'POST', maps, body), '400 Status')
      const version = { apiVersion: 'apps/v1', kind: 'ConfigMap', metadata: { name: 'x' } }
      assert.equal(await answered(on, 'POST', maps, version), '400 Status')
    },
  ],
  [
    '4.2',
    'DELETE of a collection deletes what is selected, and nothing else',
    async (on) => {
      const place = `${core}/namespaces/kube-public/configmaps`
      const labels = { gone: 'yes' }
      for (const name of ['g1', 'g2']) {
        await on.expect(201, 'POST', place, { metadata: { name, labels } })
      }
      await on.expect(201, 'POST', place, { metadata: { name: 'kept' } })
      const { body } = await on.expect(200, 'DELETE', `${place}?labelSelector=gone=yes`)
      assert.deepEqual(namesOf(body), ['g1', 'g2'])
      const left = await on.expect(200, 'GET', place)
      assert.ok(namesOf(left.body).includes('kept'))
      assert.ok(!namesOf(left.body).includes('g1'))
    },
  ],
  [
    '4.2',
    'a permission check is posted to its resource',
    async (on) => {
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
      const review = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { verb: 'delete', resource: 'nodes' } },
      }
      const { body } = await on.expect(201, 'POST', path, review)
      assert.equal(body.status.allowed, true)
    },
  ],
]

/** As kube-apiserver answers them: the router takes GET alone, other paths take any method. */
const otherMethods: [path: string, status: number, type: string][] = [
  ['/', 200, 'application/json'],
  ['/api', 405, 'application/json'],
  ['/api/v1', 405, 'application/json'],
  ['/apis', 200, 'application/json'],
  ['/apis/apps', 200, 'application/json'],
  ['/apis/apps/v1', 405, 'application/json'],
  ['/version', 405, 'application/json'],
  ['/healthz', 200, 'text/plain'],
  ['/livez', 200, 'text/plain'],
  ['/readyz/ping', 200, 'text/plain'],
  ['/livez/none', 404, 'application/json'],
  ['/metrics', 200, 'text/plain'],
  [`${core}/namespaces`, 405, 'application/json'],
  [`${core}/namespaces/default`, 405, 'application/json'],
  [`${core}/namespaces/none`, 405, 'application/json'],
  [`${inDefault}/pods`, 405, 'application/json'],
  [`${inDefault}/pods/x/log`, 405, 'application/json'],
  [`${inDefault}/pods/x/status`, 405, 'application/json'],
  [`${core}/watch/pods`, 405, 'application/json'],
  ['/apis/none', 404, 'text/plain'],
  ['/none', 404, 'application/json'],
  ['/debug/flags/v', 406, 'text/plain'],
  ['/openid/v1/jwks', 405, 'application/json'],
]
const methods: Row[] = ['HEAD', 'OPTIONS'].map(
  (method): Row => [
    '4.2',
    `${method} on every kind of path`,
    async (on) => {
      const got = await Promise.all(
        otherMethods.map(async ([path]) => {
          const { status, headers, bytes } = await on.server.raw(method, path)
          const type = String(headers['content-type']).split(';')[0]
          assert.equal(bytes.length > 0, method !== 'HEAD', path)
          return [path, status, type]
        }),
      )
      assert.deepEqual(got, otherMethods)
    },
  ],
)

const parameters: Row[] = [
  ...['1', 'true', 'True', 't'].map(
    (value): Row => [
      '4.3',
      `watch=${value} turns a list into a watch`,
      async (on) => {
        const path = `${core}/namespaces?watch=${value}&timeoutSeconds=1`
        const { text } = await on.expect(200, 'GET', `${path}&fieldSelector=metadata.name=default`)
        assert.equal(JSON.parse(text.split('\n')[0]).type, 'ADDED')
      },
    ],
  ),
  ...['0', 'false'].map(
    (value): Row => [
      '4.3',
      `watch=${value} is a list`,
      async (on) => {
        const { text } = await on.expect(200, 'GET', `${core}/namespaces?watch=${value}`)
        assert.equal(JSON.parse(text).kind, 'NamespaceList')
      },
    ],
  ),
  [
    '4.3',
    'resourceVersionMatch takes Exact and NotOlderThan, and not without resourceVersion',
    async (on) => {
      const { body } = await on.expect(200, 'GET', maps)
      const at = `resourceVersion=${body.metadata.resourceVersion}`
      const rows: [string, number][] = [
        [`resourceVersionMatch=Exact&${at}`, 200],
        [`resourceVersionMatch=NotOlderThan&${at}`, 200],
        ['resourceVersionMatch=Exact', 422],
        ['resourceVersionMatch=NotOlderThan', 422],
        [`resourceVersionMatch=Other&${at}`, 422],
        ['resourceVersionMatch=NotOlderThan&resourceVersion=0&watch=1', 422],
      ]
      for (const [query, status] of rows) await on.expect(status, 'GET', `${maps}?${query}`)
    },
  ],
  [
    '4.3',
    'limit is the most a chunk holds; 0 is no limit, less than that is refused as nothing',
    async (on) => {
      for (const name of ['l1', 'l2', 'l3'])
        await on.map(name, { metadata: { labels: { l: 'l' } } })
      const count = async (limit: string) =>
        (await on.expect(200, 'GET', `${maps}?labelSelector=l&limit=${limit}`)).body.items.length
      assert.deepEqual(
        [await count('1'), await count('2'), await count('3'), await count('9'), await count('0')],
        [1, 2, 3, 3, 3],
      )
      await on.expect(400, 'GET', `${maps}?limit=x`)
    },
  ],
  [
    '4.3',
    'an invalid continue token is 400',
    async (on) => {
      for (const token of ['x', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ', '%00'])
        await on.expect(400, 'GET', `${maps}?limit=1&continue=${token}`)
    },
  ],
  ...(['POST', 'PUT', 'PATCH', 'DELETE'] as const).map(
    (method): Row => [
      '4.3',
      `dryRun is All or empty on ${method}, and All changes nothing`,
      async (on) => {
        const name = `dry-${method.toLowerCase()}`
        if (method !== 'POST') await on.map(name)
        const path = method === 'POST' ? maps : `${maps}/${name}`
        const body = method === 'DELETE' ? undefined : { metadata: { name }, data: { dry: 'yes' } }
        const headers = method === 'PATCH' ? merge : {}
        await on.expect(422, method, `${path}?dryRun=Some`, body, headers)
        const ok = method === 'POST' ? 201 : 200
        await on.expect(ok, method, `${path}?dryRun=All`, body, headers)
        const { status, body: now } = await on.ask('GET', `${maps}/${name}`)
        assert.equal(status, method === 'POST' ? 404 : 200)
        assert.equal(now.data, undefined)
        await on.expect(ok, method, `${path}?dryRun=`, body, headers)
        const after = await on.ask('GET', `${maps}/${name}`)
        if (method === 'DELETE') assert.equal(after.status, 404)
        else assert.deepEqual(after.body.data, { dry: 'yes' })
      },
    ],
  ),
  [
    '4.3',
    'fieldManager names the manager; without it the user agent does; apply needs it',
    async (on) => {
      const made = async (query: string, name: string) => {
        const agent = { 'user-agent': 'teller/1.2 (os)' }
        const path = `${maps}${query}`
        const { body } = await on.expect(
          201,
          'POST',
          path,
          { metadata: { name }, data: { a: '1' } },
          agent,
        )
        return body.metadata.managedFields?.[0]?.manager
      }
      assert.equal(await made('?fieldManager=named', 'fm-1'), 'named')
      assert.equal(await made('', 'fm-2'), 'teller')
      const apply = { 'content-type': 'application/apply-patch+yaml' }
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fm-3' } }
      await on.expect(422, 'PATCH', `${maps}/fm-3`, body, apply)
      await on.expect(201, 'PATCH', `${maps}/fm-3?fieldManager=me`, body, apply)
    },
  ],
  [
    '4.3',
    'force takes fields from their owners, and is for apply alone',
    async (on) => {
      const apply = { 'content-type': 'application/apply-patch+yaml' }
      const body = (value: string) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'forced' },
        data: { value },
      })
      const path = `${maps}/forced?fieldManager=`
      await on.expect(201, 'PATCH', `${path}one`, body('1'), apply)
      await on.expect(409, 'PATCH', `${path}two`, body('2'), apply)
      const { body: taken } = await on.expect(
        200,
        'PATCH',
        `${path}two&force=true`,
        body('2'),
        apply,
      )
      assert.equal(taken.data.value, '2')
      const managers = taken.metadata.managedFields.map(
        ({ manager }: { manager: string }) => manager,
      )
      assert.deepEqual(managers, ['two'])
      await on.expect(422, 'PATCH', `${path}two&force=true`, body('3'), merge)
    },
  ],
]

const contents: Row[] = [
  [
    '4.4',
    'what is asked for and cannot be is 406',
    async (on) => {
      for (const accept of ['text/html', 'image/png', 'application/json;as=Nothing;g=x;v=v1']) {
        await on.expect(406, 'GET', `${inDefault}/pods`, undefined, { accept })
        await on.expect(406, 'GET', `${inDefault}/pods/none/log`, undefined, { accept })
      }
      // The router lets it pass, and no handler takes it.
      const accept = 'text/plain'
      await on.expect(406, 'GET', `${inDefault}/pods/none/log`, undefined, { accept })
      for (const accept of ['text/html, */*', 'application/json, */*', 'application/yaml']) {
        await on.expect(404, 'GET', `${inDefault}/pods/none/log`, undefined, { accept })
      }
    },
  ],
  [
    '4.4',
    'an Accept list is tried in its order: the first that can be',
    async (on) => {
      const typeOf = async (path: string, accept: string) => {
        const { headers } = await on.expect(200, 'GET', path, undefined, { accept })
        return String(headers?.['content-type'])
      }
      const list = `${inDefault}/pods`
      assert.equal(await typeOf(list, 'text/html, application/json'), 'application/json')
      assert.equal(await typeOf(list, `${protobuf}, application/json`), protobuf)
      assert.equal(await typeOf(list, `${table}, application/json`), 'application/json')
      assert.equal(await typeOf('/version', `${protobuf}, application/json`), 'application/json')
    },
  ],
  [
    '4.4',
    'a table is for GET; other methods answer with the object, in a table where that is asked for too',
    async (on) => {
      const { body } = await on.expect(200, 'GET', maps, undefined, { accept: table })
      assert.equal(body.kind, 'Table')
      assert.equal(body.apiVersion, 'meta.k8s.io/v1beta1')
    },
  ],
  [
    '4.4',
    'protobuf goes in with PUT and POST and comes out with GET, JSON the other way at will',
    async (on) => {
      await on.map('wire', { data: { a: 'b' } })
      const path = `${maps}/wire`
      const raw = await rawGet(on, path, { accept: protobuf })
      assert.deepEqual([...raw.subarray(0, 4)], [0x6b, 0x38, 0x73, 0x00])
      const sent = await rawSend(on, 'PUT', path, raw, {
        'content-type': protobuf,
        accept: 'application/json',
      })
      const put = JSON.parse(sent.toString('utf8'))
      assert.deepEqual([put.kind, put.data], ['ConfigMap', { a: 'b' }])
      await on.expect(200, 'DELETE', path)
    },
  ],
  [
    '4.4',
    'custom kinds have no protobuf: alone it is 406, with JSON behind it JSON',
    async (on) => {
      const path = await thingsOf(on)
      await on.expect(406, 'GET', path, undefined, { accept: protobuf })
      const accept = `${protobuf}, application/json`
      const { body } = await on.expect(200, 'GET', path, undefined, { accept })
      assert.equal(body.kind, 'ThingList')
      const type = { 'content-type': protobuf }
      await on.expect(400, 'POST', path, { metadata: { name: 'a' } }, type)
    },
  ],
  [
    '4.4',
    'one object is no list of metadata, of any kind: 406',
    async (on) => {
      await on.map('single')
      const things = await thingsOf(on)
      const thing = { apiVersion: 'spec.example.com/v1', kind: 'Thing', metadata: { name: 'one' } }
      await on.expect(201, 'POST', things, thing)
      const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
      for (const path of [`${maps}/single`, `${things}/one`]) {
        const { body } = await on.expect(406, 'GET', path, undefined, { accept })
        assert.match(body.message, /^you requested PartialObjectMetadataList, but the requested/)
      }
    },
  ],
  [
    '4.4',
    'each patch has its media type; a body of another is 415',
    async (on) => {
      await on.map('patched', { data: { a: '1' } })
      const path = `${maps}/patched?fieldManager=p`
      const rows: [string, unknown, number][] = [
        ['application/merge-patch+json', { data: { a: '2' } }, 200],
        ['application/json-patch+json', [{ op: 'add', path: '/data/b', value: '3' }], 200],
        ['application/strategic-merge-patch+json', { data: { c: '4' } }, 200],
        [
          'application/apply-patch+yaml',
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'patched' }, data: { d: '5' } },
          200,
        ],
        ['application/json', { data: { a: '6' } }, 415],
        ['text/plain', { data: { a: '7' } }, 415],
      ]
      for (const [type, body, status] of rows) {
        await on.expect(status, 'PATCH', path, body, { 'content-type': type })
      }
      const { body } = await on.expect(200, 'GET', `${maps}/patched`)
      assert.deepEqual(body.data, { a: '2', b: '3', c: '4', d: '5' })
      await on.expect(
        415,
        'POST',
        maps,
        { metadata: { name: 'x' } },
        { 'content-type': 'text/plain' },
      )
    },
  ],
  [
    '4.4',
    'an apply body may be YAML',
    async (on) => {
      const yaml =
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-yaml}\ndata: {on: "yes"}\n'
      const path = `${maps}/from-yaml?fieldManager=p`
      const type = { 'content-type': 'application/apply-patch+yaml' }
      const sent = JSON.parse(String(await rawSend(on, 'PATCH', path, Buffer.from(yaml), type)))
      // A key that YAML 1.1 reads as a truth is written as one.
      assert.deepEqual(sent.data, { true: 'yes' })
      const { events } = await on.watch(`${maps}?fieldSelector=metadata.name=from-yaml`)
      assert.deepEqual(told(events), ['ADDED from-yaml'])
    },
  ],
]

interface Named {
  readonly metadata: { readonly name: string; readonly namespace: string }
}
const namesOf = (list: { items: Named[] }) => list.items.map(({ metadata }) => metadata.name)

const rawGet = (on: Wire, path: string, headers: Record<string, string>) =>
  rawSend(on, 'GET', path, undefined, headers)

function rawSend(
  { server }: Wire,
  method: string,
  path: string,
  body: Buffer | undefined,
  headers: Record<string, string>,
): Promise<Buffer> {
  return server.send(method, path, body, headers)
}

let defined: Promise<string> | undefined
/** Where things are, a custom kind that is defined once. */
function thingsOf(on: Wire): Promise<string> {
  defined ??= define(on)
  return defined
}

async function define(on: Wire): Promise<string> {
  const path = '/apis/spec.example.com/v1/things'
  const schema = { openAPIV3Schema: { type: 'object' } }
  await on.expect(201, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.spec.example.com' },
    spec: {
      group: 'spec.example.com',
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  await until('things to be served', async () => (await on.ask('GET', path)).status === 200)
  return path
}

specify('sections 4.1 to 4.4', [], [...paths, ...methods, ...parameters, ...contents])
