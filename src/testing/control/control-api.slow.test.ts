/**
 * The test server as programs in other languages use it: over TLS, with the token that it prints.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startTestServer, type TestServer } from '#testing/test-server.ts'
import { controlDocument } from './openapi.ts'
import { operations } from './operations.ts'

let server: TestServer
const place = mkdtempSync(join(tmpdir(), 'binnacle-control-'))
before(async () => {
  server = await startTestServer({ controllers: ['-*'] }, '0.0.0')
})
after(async () => {
  await server.close()
  rmSync(place, { recursive: true })
})

// biome-ignore lint/suspicious/noExplicitAny: bodies of many operations
type Body = any

interface Response {
  readonly status: number
  readonly body: Body
}

function send(method: string, url: string, token: string, body?: unknown): Promise<Response> {
  const { certificateAuthority: ca } = server.address
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const request = https.request(url, { method, headers, ca, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) })
      })
    })
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const control = (method: string, path: string, body?: unknown) =>
  send(method, `${server.address.control}${path}`, server.address.controlToken, body)

async function made(path: string, body: unknown = {}): Promise<Body> {
  const response = await control('POST', path, body)
  assert.equal(response.status, 200, JSON.stringify(response.body))
  return response.body
}

const configMaps = '/api/v1/namespaces/default/configmaps'
const createIn = ({ url, token }: { url: string; token: string }, name: string) =>
  send('POST', `${url}${configMaps}`, token, { metadata: { name } })
async function namesIn({ url, token }: { url: string; token: string }): Promise<string[]> {
  const { body } = await send('GET', `${url}${configMaps}`, token)
  return body.items.map((item: Body) => item.metadata.name)
}

test('clusters: make, fork, reset, close, each with its own token', async () => {
  const one = await made('/clusters', { name: 'one' })
  assert.equal(one.url, `${server.address.url}/clusters/one`)
  assert.equal((await createIn(one, 'a')).status, 201)
  const two = await made('/clusters/one/fork')
  assert.equal((await createIn(two, 'b')).status, 201)
  assert.deepEqual(await namesIn(one), ['a'])
  assert.deepEqual(await namesIn(two), ['a', 'b'])
  assert.equal((await send('GET', `${two.url}${configMaps}`, one.token)).status, 401)
  await made(`/clusters/${two.name}/reset`)
  assert.deepEqual(await namesIn(two), ['a'])
  assert.equal((await control('DELETE', `/clusters/${two.name}`)).status, 200)
  assert.equal((await send('GET', `${two.url}${configMaps}`, two.token)).status, 404)
  const { body } = await control('GET', '/clusters')
  assert.deepEqual(
    body.clusters.map(({ name }: Body) => name),
    ['first', 'one'],
  )
})

test('snapshots: in the server and in a file', async () => {
  const one = await made('/clusters')
  await createIn(one, 'kept')
  const path = `/clusters/${one.name}`
  const { snapshot, revision } = await made(`${path}/snapshot`)
  const file = join(place, 'state')
  assert.deepEqual(await made(`${path}/snapshot`, { file }), { file, revision })
  await createIn(one, 'lost')
  await made(`${path}/restore`, { snapshot })
  assert.deepEqual(await namesIn(one), ['kept'])
  const two = await made('/clusters', { file })
  assert.deepEqual(await namesIn(two), ['kept'])
  assert.equal(two.revision, revision)
  assert.equal((await createIn(two, 'more')).status, 201)
})

test('faults, the store, the clock and requests', async () => {
  const one = await made('/clusters')
  const path = `/clusters/${one.name}`
  const rule = { match: { verb: 'create', times: 1 }, action: { error: { code: 429 } } }
  const { rule: number } = await made(`${path}/faults`, rule)
  assert.equal((await createIn(one, 'a')).status, 429)
  assert.equal((await createIn(one, 'a')).status, 201)
  const { body } = await control('GET', `${path}/faults`)
  assert.equal(body.injected[0].rule, number)
  assert.equal((await control('DELETE', `${path}/faults/${number}`)).status, 200)
  assert.equal((await control('DELETE', `${path}/faults/${number}`)).status, 404)
  assert.match((await made(`${path}/store`, { fail: 'full' })).trouble, /full/)
  assert.equal((await createIn(one, 'b')).status, 503)
  assert.equal((await made(`${path}/store`, { fail: 'none' })).trouble, '')
  await made(`${path}/clock`, { freeze: '2031-01-01T00:00:00Z' })
  const moved = await made(`${path}/clock`, { advance: '1h' })
  assert.deepEqual(moved, { time: '2031-01-01T01:00:00.000Z', frozen: true })
  const { body: created } = await createIn(one, 'c')
  assert.equal(created.metadata.creationTimestamp, '2031-01-01T01:00:00Z')
  const { body: log } = await control('GET', `${path}/requests`)
  const statuses = log.requests.map(({ status }: Body) => status)
  assert.deepEqual(statuses, [429, 201, 503, 201])
})

test('errors of requests are reported', async () => {
  const rows: [method: string, path: string, body: unknown, status: number, error: RegExp][] = [
    ['GET', '/nothing', undefined, 404, /there is no \/testing\/v1\/nothing/],
    ['DELETE', '/clusters', undefined, 405, /takes GET, POST/],
    ['POST', '/clusters/none/fork', {}, 404, /there is no cluster "none"/],
    ['POST', '/clusters', { name: 'A B' }, 400, /is no name of a cluster/],
    ['POST', '/clusters', { nam: 'a' }, 400, /body\.nam is unknown/],
    ['POST', '/clusters', { name: 1 }, 400, /body\.name must be a string, not 1/],
    ['POST', '/clusters', [], 400, /body must be an object/],
    ['POST', '/clusters', { file: '/nowhere/state' }, 400, /no such file/],
    ['POST', '/clusters', { snapshot: 'x' }, 404, /there is no snapshot "x"/],
    ['POST', '/clusters/first/faults', { action: { eror: 1 } }, 400, /action\.eror is unknown/],
    ['POST', '/clusters/first/faults', {}, 400, /body needs action/],
    ['POST', '/clusters/first/faults', { action: {} }, 400, /exactly one action/],
    ['POST', '/clusters/first/store', { fail: 'x' }, 400, /must be one of full, unavailable, none/],
    ['POST', '/clusters/first/store', { slowMs: -1 }, 400, /body\.slowMs must be at least 0/],
    ['POST', '/clusters/first/clock', { resume: 1 }, 400, /must be true or false/],
    ['POST', '/clusters/first/clock', { freeze: 1 }, 400, /must be true or false or a string/],
    ['POST', '/clusters/first/clock', { advance: 'soon' }, 400, /is no duration/],
    ['DELETE', '/clusters/first', undefined, 400, /stays open/],
  ]
  for (const [method, path, body, status, error] of rows) {
    const response = await control(method, path, body)
    assert.equal(response.status, status, path)
    assert.match(response.body.error, error)
  }
  const url = `${server.address.control}/clusters`
  for (const token of ['', 'x', server.address.token])
    assert.equal((await send('GET', url, token)).status, 401)
})

test('the OpenAPI document has every operation', async () => {
  const { status, body } = await control('GET', '/openapi.json')
  assert.equal(status, 200)
  assert.deepEqual(body, JSON.parse(JSON.stringify(controlDocument('0.0.0'))))
  const methods = Object.values(body.paths).flatMap((path) => Object.keys(path as object))
  assert.equal(methods.length, operations.length)
  const { post } = body.paths['/testing/v1/clusters/{cluster}/faults']
  const { match, action } = post.requestBody.content['application/json'].schema.properties
  assert.deepEqual(match.properties.probability, { type: 'number', minimum: 0, maximum: 1 })
  assert.deepEqual(action.properties.error.required, ['code'])
})
