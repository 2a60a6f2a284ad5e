/**
 * A user without rights can do nothing: every path, verb and subresource, for a user without roles
 * and for an anonymous one.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { type RunningServer, startServer } from './running-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'binnacle-authorised-'))
let server: RunningServer
let session: http2.ClientHttp2Session

before(async () => {
  const tokens = join(folder, 'tokens.csv')
  writeFileSync(tokens, 'stranger-token,stranger,stranger-uid\n')
  server = await startServer([`--token-auth-file=${tokens}`])
  session = http2.connect(server.url, { rejectUnauthorized: false })
})
after(async () => {
  session.destroy()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

function statusOf(
  method: string,
  path: string,
  headers: http2.OutgoingHttpHeaders,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request(
      { ':method': method, ':path': path, ...headers },
      { endStream: true },
    )
    stream.on('response', (answer) => resolve(Number(answer[':status'])))
    stream.on('error', reject)
    stream.resume()
  })
}

interface Listed {
  name: string
  namespaced: boolean
  verbs: string[]
}

async function everyPath(): Promise<string[]> {
  const paths: string[] = []
  const { body: groups } = await server.ask('GET', '/apis')
  const places = ['/api/v1']
  for (const { versions } of groups.groups) {
    for (const { groupVersion } of versions) places.push(`/apis/${groupVersion}`)
  }
  for (const place of places) {
    const { body } = await server.ask('GET', place)
    for (const { name, namespaced } of body.resources as Listed[]) {
      const [plural, subresource] = name.split('/')
      const at = namespaced ? `${place}/namespaces/default/${plural}` : `${place}/${plural}`
      if (subresource !== undefined) {
        paths.push(`${at}/some/${subresource}`)
        continue
      }
      paths.push(at, `${at}/some`, `${at}?watch=1&timeoutSeconds=1`)
      if (namespaced) paths.push(`${place}/${plural}`)
      const behind = namespaced ? `namespaces/default/${plural}` : plural
      paths.push(`${place}/watch/${behind}`, `${place}/watch/${behind}/some`)
    }
  }
  return paths
}

/** Reviews of oneself are open to all users; so are discovery and health. */
const free = /\/selfsubject(access|rules)reviews/

test('every path and method is rejected with 403 before any other error', async () => {
  const paths = await everyPath()
  assert.ok(paths.length > 300, `${paths.length} paths`)
  const askers: [who: string, headers: http2.OutgoingHttpHeaders][] = [
    ['stranger', { authorization: 'Bearer stranger-token' }],
    ['nobody', {}],
  ]
  for (const [who, headers] of askers) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answers = await Promise.all(paths.map((path) => statusOf(method, path, headers)))
      paths.forEach((path, i) => {
        if (method === 'POST' && who === 'stranger' && free.test(path)) return
        assert.equal(answers[i], 403, `${who}: ${method} ${path}`)
      })
    }
  }
})

test('paths without a resource are rejected too, except those open to all users', async () => {
  const stranger = { authorization: 'Bearer stranger-token' }
  const cases: [path: string, stranger: number, nobody: number][] = [
    ['/readyz', 200, 200],
    ['/livez', 200, 200],
    ['/healthz', 200, 200],
    ['/version', 200, 200],
    ['/api', 200, 403],
    ['/apis', 200, 403],
    ['/openapi/v2', 200, 403],
    ['/', 403, 403],
    ['/metrics', 403, 403],
    ['/logs', 403, 403],
    ['/nonsense', 403, 403],
    ['/readyz/nonsense', 403, 403],
    ['//api/v1/secrets', 403, 403],
    ['/api/v1/nonsense', 403, 403],
    ['/apis/nonsense/v1/things', 403, 403],
  ]
  for (const [path, known, unknown] of cases) {
    assert.equal(await statusOf('GET', path, stranger), known, `stranger ${path}`)
    assert.equal(await statusOf('GET', path, {}), unknown, `nobody ${path}`)
  }
  assert.equal(await statusOf('GET', '/api/v1/pods', { authorization: 'Bearer wrong' }), 401)
})

test('a requested token comes with the metadata of the request and nothing else', async () => {
  const space = '/api/v1/namespaces/default/serviceaccounts'
  await server.ask('POST', space, { metadata: { name: 'robot' } })
  const { status, body } = await server.ask('POST', `${space}/robot/token`, {
    spec: { audiences: ['a'] },
  })
  assert.equal(status, 201)
  const { managedFields, ...metadata } = body.metadata
  assert.deepEqual(metadata, { creationTimestamp: null })
  assert.deepEqual(managedFields[0].fieldsV1, {
    'f:spec': { 'f:audiences': {}, 'f:expirationSeconds': {} },
  })
  assert.equal(managedFields[0].subresource, 'token')
})

test('a rejection cannot be mistaken for another response', async () => {
  const outside = { 'impersonate-user': 'nobody' }
  const refused = await server.ask('GET', '/api/v1/secrets', undefined, outside)
  assert.equal(refused.status, 403)
  assert.equal(refused.headers?.['x-content-type-options'], 'nosniff')
})
