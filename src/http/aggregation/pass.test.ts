/**
 * A forwarded request: the requirements for the aggregated server, what it receives, and the
 * client's error if it is unavailable.
 */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, mock, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { authority, client, type Made, make, serverUsage } from '#access/certificates.suite.ts'
import type { Identity } from '#access/identity.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import type { AnswerHeaders, Exchange } from '#http/exchange.ts'
import { parseTarget } from '#http/request/request-target.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { Aggregation, type Remote } from './aggregation.ts'
import { NoSuchPlace } from './service-address.ts'

const group = 'g.example.com'
const things = `/apis/${group}/v1/things`

let server: Server
let port = 0
let ca: Made
let other: Made
let proxy: Identity
/** The request as the server received it. */
let requested: { line: string; headers: string[]; client: unknown; body: string } | undefined
let waiting = false
/** Aborted when the server stops. */
let stopping = new AbortController()

before(async () => {
  ca = await authority('behind')
  other = await authority('other')
  proxy = await shownBy('front-proxy')
  const hosts = ['behind.default.svc']
  const own = await make({ subject: [{ CN: ['x'] }], issuer: ca, usages: [serverUsage], hosts })
  const keys = { cert: own.pem, key: own.keyPem, requestCert: true, rejectUnauthorized: false }
  server = createServer(keys, async (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate()
    let body = ''
    for await (const chunk of request) body += chunk
    const line = `${request.method} ${request.url}`
    requested = { line, headers: request.rawHeaders, client: subject?.CN, body }
    if (request.url?.endsWith('/away'))
      response.writeHead(307, { location: 'https://127.0.0.1:1/' })
    if (request.url?.endsWith('/unchanged')) response.writeHead(304)
    waiting = request.url === `/apis/${group}/v1`
    if (request.url?.endsWith('watch=true')) response.write('event')
    else if (!waiting) response.end('here')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
const shownBy = async (name: string): Promise<Identity> => {
  const { pem: cert, keyPem: key } = await client(ca, name, [])
  return { cert, key }
}
after(() => {
  server.close()
  server.closeAllConnections()
})

const available = { conditions: [{ type: 'Available', status: 'True' }] }

async function remoteOf(
  spec: object,
  status: object = available,
  place?: Error | number,
  passesRedirects = false,
) {
  let tell = (_: KubeObject) => {}
  const aggregation = new Aggregation({
    reader: {
      async follow(_: string, __: string, given: { changed: (object: KubeObject) => void }) {
        tell = given.changed
        return () => {}
      },
    } as unknown as ObjectReader,
    resolve: async () => {
      if (place instanceof Error) throw place
      return { host: '127.0.0.1', port: place ?? port }
    },
    proxyClient: () => proxy,
    isIdentityHeader: (name) => name === 'x-own-user',
    stopping: stopping.signal,
    passesRedirects,
  })
  await aggregation.follow()
  const service = { namespace: 'default', name: 'behind' }
  const all = { group, version: 'v1', service, ...spec }
  tell({ metadata: { name: `v1.${group}` }, spec: all, status } as unknown as KubeObject)
  return { aggregation, remote: aggregation.remoteOf(group, 'v1') as Remote }
}

interface Request {
  readonly method?: string
  readonly headers?: Record<string, string | string[]>
  readonly body?: string
}

async function answered(
  { aggregation, remote }: Awaited<ReturnType<typeof remoteOf>>,
  url: string,
  { method = 'GET', headers = {}, body }: Request = {},
) {
  requested = undefined
  const heard = { status: 0, headers: {} as AnswerHeaders, text: '' }
  const query = new URLSearchParams(url.split('?')[1] ?? '')
  const wire = {
    method,
    url,
    headers,
    separateHeaders: { host: 'front', ...headers },
    remoteAddress: '10.1.1.1',
    signal: new AbortController().signal,
    bodyStream: () => (body === undefined ? undefined : Readable.from([Buffer.from(body)])),
    answer: (status: number, given: AnswerHeaders, bytes: Buffer | undefined) =>
      void Object.assign(heard, { status, headers: given, text: String(bytes ?? '') }),
    stream(status: number, given: AnswerHeaders) {
      Object.assign(heard, { status, headers: given })
      const write = (bytes: Buffer) => Boolean((heard.text += bytes))
      return { write, drained: async () => {}, end: () => {}, closed: false }
    },
  }
  await aggregation.pass(
    {
      wire,
      query,
      target: parseTarget(method, url.split('?')[0], query),
      auditId: 'audit',
      user: { name: 'alice', uid: '1', groups: ['dev', 'ops'], extra: { 'a/b': ['c', 'd'] } },
      warnings: [],
      answeredBytes: 0,
    } as unknown as Exchange,
    remote,
  )
  return heard
}

const bundle = (made: Made) => Buffer.from(made.pem).toString('base64')
const unknown = 'error trying to reach service: x509: certificate signed by unknown authority\n'
// the trust of the APIService, the client's error
const trusts: [() => object, number, string][] = [
  [() => ({ caBundle: bundle(ca) }), 200, 'here'],
  [() => ({ insecureSkipTLSVerify: true }), 200, 'here'],
  [() => ({ caBundle: bundle(other) }), 503, unknown],
  [() => ({}), 503, unknown],
  [
    () => ({ caBundle: bundle(ca), service: { namespace: 'ns', name: 'behind' } }),
    503,
    'error trying to reach service: x509: certificate is valid for behind.default.svc, not behind.ns.svc\n',
  ],
  [
    () => ({ caBundle: Buffer.from('nonsense').toString('base64') }),
    500,
    'unable to load root certificates: unable to parse bytes as PEM block\n',
  ],
]
for (const [spec, status, text] of trusts) {
  test(`${spec.toString().slice(6)}: ${status}`, async () => {
    const heard = await answered(await remoteOf(spec()), things)
    assert.deepEqual([heard.status, heard.text], [status, text])
    assert.equal(requested?.client, status === 200 ? 'front-proxy' : undefined)
  })
}

test('a renewed client certificate is used on new connections', async () => {
  const between = await remoteOf({ caBundle: bundle(ca) })
  const before = proxy
  const { trust } = await between.aggregation.backendOf(between.remote)
  await answered(between, things)
  assert.equal(requested?.client, 'front-proxy')
  assert.equal((await between.aggregation.backendOf(between.remote)).trust, trust)
  proxy = await shownBy('renewed')
  await answered(between, things)
  assert.equal(requested?.client, 'renewed')
  proxy = before
})

const away = 'service unavailable\n'
// the state of the server, the client's error
const absences: [object, Error | number | undefined, string][] = [
  [{}, undefined, away],
  [{ conditions: [{ type: 'Available', status: 'False' }] }, undefined, away],
  [{ conditions: [{ type: 'Other', status: 'True' }] }, undefined, away],
  [available, new NoSuchPlace('x'), away],
  [
    available,
    1,
    'error trying to reach service: dial tcp 127.0.0.1:1: connect: connection refused\n',
  ],
]
for (const [status, place, text] of absences) {
  test(`${JSON.stringify(status)} ${place ?? ''}: ${text.trim()}`, async () => {
    const heard = await answered(await remoteOf({ caBundle: bundle(ca) }, status, place), things)
    assert.deepEqual([heard.status, heard.text, requested], [503, text, undefined])
    assert.equal(heard.headers['x-content-type-options'], 'nosniff')
  })
}

test('the server gets the user and the address only from us', async () => {
  const headers = {
    authorization: 'Bearer t',
    'x-remote-user': 'root',
    'x-remote-group': ['system:masters'],
    'x-remote-extra-x': 'y',
    'x-own-user': 'root',
    'impersonate-user': 'root',
    'x-forwarded-for': '1.2.3.4',
    'x-forwarded-host': 'evil',
    'audit-id': 'theirs',
    'x-kept': 'yes',
  }
  await answered(await remoteOf({ caBundle: bundle(ca) }), `${things}/a%2Fb//c?z=1&a=x`, {
    headers,
  })
  assert.equal(requested?.line, `GET ${things}/a/b//c?a=x&z=1`)
  const pairs: string[] = []
  for (let i = 0; i < (requested?.headers.length ?? 0); i += 2)
    pairs.push(`${requested?.headers[i]}: ${requested?.headers[i + 1]}`)
  assert.deepEqual(pairs.sort(), [
    'audit-id: audit',
    `host: 127.0.0.1:${port}`,
    'x-forwarded-for: 1.2.3.4, 10.1.1.1',
    `x-forwarded-host: 127.0.0.1:${port}`,
    'x-forwarded-proto: https',
    `x-forwarded-uri: ${things}/a/b/c`,
    'x-kept: yes',
    'x-remote-extra-a%2fb: c',
    'x-remote-extra-a%2fb: d',
    'x-remote-group: dev',
    'x-remote-group: ops',
    'x-remote-user: alice',
  ])
})

test('a body of unknown length is forwarded, whatever its contents', async () => {
  const body = `GET ${things}/hidden HTTP/1.1\r\nX-Remote-User: root\r\n\r\n`
  await answered(await remoteOf({ caBundle: bundle(ca) }), things, { method: 'POST', body })
  assert.deepEqual([requested?.line, requested?.body], [`POST ${things}`, body])
})

// path, the client's error
const elsewhere = 'the backend attempted to redirect this request, which is not permitted'
const redirects: [string, number, string][] = [
  [`${things}/away`, 502, elsewhere],
  [`${things}/unchanged`, 304, ''],
]
for (const [path, status, text] of redirects) {
  test(`${path}: ${status}`, async () => {
    const heard = await answered(await remoteOf({ caBundle: bundle(ca) }), path)
    assert.deepEqual([heard.status, heard.text], [status, text])
    assert.equal(heard.headers.location, undefined)
  })
}

test('a redirect is forwarded if the settings allow it', async () => {
  const there = await remoteOf({ caBundle: bundle(ca) }, available, undefined, true)
  const { status, headers } = await answered(there, `${things}/away`)
  assert.equal(status, 307)
  assert.match(String(headers.location), /^http/)
})

test('discovery has a timeout of five seconds', async () => {
  const there = await remoteOf({ caBundle: bundle(ca) })
  mock.timers.enable({ apis: ['setTimeout'] })
  const heard = answered(there, `/apis/${group}/v1`)
  const tick = () => new Promise((resolve) => setImmediate(resolve))
  while (!waiting) await tick()
  mock.timers.tick(5000)
  mock.timers.reset()
  const { status, text } = await heard
  assert.equal(status, 503)
  assert.equal(text, 'error trying to reach service: context deadline exceeded\n')
  await until('the next', async () => (await answered(there, things)).status === 200)
})

test('when this server stops, a watch ends at once, and any other response when it is complete', async () => {
  const there = await remoteOf({ caBundle: bundle(ca) })
  const heard = answered(there, `${things}?watch=true`)
  await until('the watch to begin', () => requested !== undefined)
  stopping.abort()
  assert.equal((await heard).status, 200)
  assert.equal((await answered(there, things)).text, 'here')
  stopping = new AbortController()
})
