/**
 * OpenAPI documents of servers that are added, unchanged, changed and removed, merged into ours.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, mock, test } from 'node:test'
import { counterpart, type Counterpart } from '#access/counterpart.suite.ts'
import { until } from '#base/until.fixture.ts'
import type { Published } from '#discovery/openapi/publisher.ts'
import type { Aggregation, Remote } from './aggregation.ts'
import { type OpenApiDocuments, RemoteDocuments } from './remote-documents.ts'

let server: Counterpart
/** The server's responses by path. */
let stated: Record<string, unknown> = {}
const requested: string[] = []

before(async () => {
  server = await counterpart(({ path }) => {
    requested.push(path)
    const found = stated[path]
    return found === undefined ? { status: 404, body: 'x' } : { body: found as object }
  })
})
after(() => server.stop())
beforeEach(() => {
  stated = {}
  requested.length = 0
})

const publishedOf = (value: object): Published => ({
  bytes: Buffer.from(JSON.stringify(value)),
  hash: 'ours',
})
const ours = {
  v2: async () => publishedOf({ swagger: '2.0', paths: { '/api/': {} }, definitions: {} }),
  v2Protobuf: async () => publishedOf({}),
  v3Index: async () => publishedOf({ paths: { 'apis/apps/v1': { serverRelativeURL: '/x' } } }),
  v3: () => undefined,
} as unknown as OpenApiDocuments

function documentsOf(priorities: Record<string, number>) {
  const remotes = new Map(
    Object.keys(priorities).map((key) => [key, { name: key, available: true } as Remote]),
  )
  const aggregation = {
    generation: 0,
    remotes: () => remotes,
    priorityOf: (group: string, version: string) => ({
      group: priorities[`${group}/${version}`],
      version: 1,
    }),
    backendOf: async () => ({
      secure: true,
      host: 'localhost',
      port: Number(new URL(server.url).port),
      trust: { insecure: false, ca: server.authority.pem },
    }),
  } as unknown as Aggregation
  const documents = new RemoteDocuments(aggregation)
  const shown = documents.over(ours)
  const merged = async () => JSON.parse((await shown.v2()).bytes.toString())
  return { documents, remotes, shown, merged }
}

/** Checks all servers immediately. */
function look(documents: RemoteDocuments): void {
  mock.timers.enable({ apis: ['setInterval'] })
  documents.start()
  mock.timers.tick(1000)
  documents.stop()
  mock.timers.reset()
}

const described = (key: string, type: string) => ({
  paths: { [`/apis/${key}/x`]: { $ref: '#/definitions/X' } },
  definitions: { X: { type } },
})

test('a document is merged in both versions, and removed with its server', async () => {
  stated['/openapi/v2'] = described('a/v1', 'string')
  const { documents, remotes, shown, merged } = documentsOf({ 'a/v1': 1 })
  look(documents)
  await until('the path', async () => '/apis/a/v1/x' in (await merged()).paths)
  assert.ok((await shown.v2Protobuf()).bytes.includes('/apis/a/v1/x'))
  remotes.clear()
  look(documents)
  assert.deepEqual(Object.keys((await merged()).paths), ['/api/'])
})

test('a document that arrives after its server was removed is dropped, in both versions', async () => {
  stated['/openapi/v2'] = described('a/v1', 'string')
  const { documents, remotes, shown, merged } = documentsOf({ 'a/v1': 1 })
  look(documents)
  remotes.clear()
  look(documents)
  // A missing v3 document is requested once more; then v2 is converted.
  await until('all is asked', () => requested.length >= 3)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual(Object.keys((await merged()).paths), ['/api/'])
  assert.equal(shown.v3('apis/a/v1'), undefined)
})

test('an invalid document of one server does not affect the others', async () => {
  const deep = () => {
    let schema = {}
    for (let i = 0; i < 2000; i++) schema = { allOf: schema }
    return { ...described('a/v1', 'string'), definitions: { X: schema } }
  }
  const noProtobuf = {
    ...described('a/v1', 'string'),
    paths: { '/apis/a/v1/x': { get: { parameters: [{}] } } },
  }
  const rows: [document: object, isShown: boolean][] = [
    [deep(), false],
    [noProtobuf, true],
  ]
  for (const [document, isShown] of rows) {
    requested.length = 0
    stated['/openapi/v2'] = document
    const { documents, shown, merged } = documentsOf({ 'a/v1': 1 })
    look(documents)
    await until('all is asked', () => requested.length >= 3)
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal('/apis/a/v1/x' in (await merged()).paths, isShown)
    assert.equal(String((await shown.v2Protobuf()).bytes), '{}')
  }
})

test('an unavailable server keeps its document and gets no requests', async () => {
  stated['/openapi/v2'] = described('a/v1', 'string')
  const { documents, remotes, merged } = documentsOf({ 'a/v1': 1 })
  look(documents)
  await until('the path', async () => '/apis/a/v1/x' in (await merged()).paths)
  remotes.set('a/v1', { name: 'a/v1', available: false } as Remote)
  const before = requested.length
  look(documents)
  assert.ok('/apis/a/v1/x' in (await merged()).paths)
  assert.equal(requested.length, before)
})

// priorities, whose definition keeps its name
const orders: [Record<string, number>, string][] = [
  [{ 'a/v1': 1, 'b/v1': 2 }, 'b'],
  [{ 'a/v1': 2, 'b/v1': 1 }, 'a'],
  [{ 'b/v1': 1, 'a/v1': 1 }, 'a'],
  [{ 'b/v2': 1, 'a/v1': 2, 'b/v1': 3 }, 'b'],
]
for (const [priorities, first] of orders) {
  test(`of ${JSON.stringify(priorities)} ${first} has the first word`, async () => {
    // The servers are one, whose document is that of the next requested service.
    const { documents, remotes, merged } = documentsOf(priorities)
    const all = [...remotes]
    remotes.clear()
    for (const [key, remote] of all) {
      stated['/openapi/v2'] = described(key, key.startsWith('a') ? 'string' : 'integer')
      remotes.set(key, remote)
      look(documents)
      await until(key, async () => `/apis/${key}/x` in (await merged()).paths)
    }
    const { definitions } = await merged()
    assert.equal(definitions.X.type, first === 'a' ? 'string' : 'integer')
  })
}

// the description of the document in the server's index, the request for it
const addresses: [string, string | undefined][] = [
  ['/openapi/v3/apis/a/v1?hash=AB12', '/openapi/v3/apis/a/v1?hash=AB12'],
  ['/openapi/v3/apis/a/v1', '/openapi/v3/apis/a/v1'],
  ['https://elsewhere.example.com/openapi/v3/apis/a/v1', undefined],
  ['//elsewhere.example.com/x', undefined],
  ['/api/v1/secrets', undefined],
  ['/openapi/v3/../../api/v1/secrets?hash=%0A', undefined],
  ['/openapi/v3/apis/a/v1?hash=AB&x=y', undefined],
]
for (const [serverRelativeURL, expected] of addresses) {
  test(`OpenAPI v3 at ${serverRelativeURL}`, async () => {
    const document = { openapi: '3.0.0', paths: {} }
    stated['/openapi/v3'] = { paths: { 'apis/a/v1': { serverRelativeURL } } }
    if (expected !== undefined) stated[expected] = document
    const { documents, shown } = documentsOf({ 'a/v1': 1 })
    look(documents)
    await until('both forms to be asked for', () => requested.length >= 2)
    const index = async () => JSON.parse((await shown.v3Index()).bytes.toString()).paths
    if (expected === undefined) {
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(requested.toSorted(), ['/openapi/v2', '/openapi/v3'])
      assert.deepEqual(Object.keys(await index()), ['apis/apps/v1'])
    } else {
      await until('the entry', async () => 'apis/a/v1' in (await index()))
      assert.ok(requested.includes(expected))
      assert.deepEqual(JSON.parse(String(shown.v3('apis/a/v1')?.bytes)), document)
    }
  })
}
