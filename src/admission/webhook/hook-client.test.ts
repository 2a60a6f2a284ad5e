/** Calls over real HTTPS: requests, kept connections, retries and timeouts. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { after, before, beforeEach, test } from 'node:test'
import { authority, clientUsage, type Made, make, serverUsage } from '#access/certificates.suite.ts'
import type { Identity } from '#access/identity.ts'
import type { KubeconfigUsers } from '#access/kubeconfig.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { nobody } from './credentials.ts'
import { HookClient } from './hook-client.ts'
import { ownPlace } from './webhook-server.suite.ts'

type Answer = (response: ServerResponse, call: number) => void

let ca: Made
let client: Made
let server: Server
let answers: Answer
let calls: IncomingMessage[]
let sockets: Set<unknown>
const reader = new MemoryReader()

before(async () => {
  ca = await authority('hooks')
  const hosts = ['127.0.0.1', 'localhost', 'hook.ns.svc', 'other.ns.svc']
  const serving = await make({ subject: [{ CN: ['h'] }], issuer: ca, usages: [serverUsage], hosts })
  client = await make({ subject: [{ CN: ['apiserver'] }], issuer: ca, usages: [clientUsage] })
  const tls = { cert: serving.pem, key: serving.keyPem, ca: ca.pem }
  server = createServer(
    { ...tls, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      calls.push(request)
      sockets.add(request.socket)
      request.resume().on('end', () => answers(response, calls.length))
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
after(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  answers = (response) => response.end('{"a":1}')
  calls = []
  sockets = new Set()
})

const port = () => (server.address() as AddressInfo).port
const bundle = () => Buffer.from(ca.pem).toString('base64')
const byUrl = (): Loose => ({ url: `https://127.0.0.1:${port()}/h`, caBundle: bundle() })
const post = (hooks: HookClient, changes: Loose = {}, timeoutMs = 5000) =>
  hooks.post({ client: { ...byUrl(), ...changes }, timeoutMs }, '{"asked":true}', reader).then(
    ({ review }) => review,
    (error: Error) => error.message,
  )

test('the request to a webhook', async () => {
  const users: KubeconfigUsers = new Map([
    [`127.0.0.1:${port()}`, () => ({ authorization: 'Bearer t' })],
  ])
  assert.deepEqual(await post(new HookClient(users, ownPlace)), { a: 1 })
  const [{ method, url, headers }] = calls
  assert.deepEqual([method, url], ['POST', '/h?timeout=5s'])
  const { host, accept, authorization, 'user-agent': agent, 'content-type': type } = headers
  assert.deepEqual(
    { host, accept, authorization, agent, type, encoding: headers['accept-encoding'] },
    {
      host: `127.0.0.1:${port()}`,
      accept: 'application/json, */*',
      authorization: 'Bearer t',
      agent: 'kube-apiserver-admission',
      type: 'application/json',
      encoding: 'gzip',
    },
  )
  assert.equal(headers['content-length'], '14')
})

test('a response may be compressed', async () => {
  const { gzipSync } = await import('node:zlib')
  answers = (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"b":2}'))
  assert.deepEqual(await post(new HookClient(nobody, ownPlace)), { b: 2 })
})

test('each webhook is called with its own client certificate', async () => {
  const users: KubeconfigUsers = new Map<string, () => Identity>([
    ['*', () => ({ cert: client.pem, key: client.keyPem })],
    [`localhost:${port()}`, () => ({ authorization: 'Bearer t' })],
  ])
  const seen: unknown[] = []
  answers = (response) => {
    const { subject } = (response.socket as TLSSocket).getPeerCertificate()
    seen.push(subject?.CN)
    response.end('{}')
  }
  const hooks = new HookClient(users, ownPlace)
  await post(hooks)
  await post(hooks)
  await post(hooks, { url: `https://localhost:${port()}/` })
  await post(new HookClient(nobody, ownPlace))
  assert.deepEqual(seen, ['apiserver', 'apiserver', undefined, undefined])
  assert.equal(sockets.size, 3)
})

test('connections are shared only for the same authorities and the same name', async () => {
  const hooks = new HookClient(nobody, ownPlace)
  for (const name of ['hook', 'other']) {
    const metadata = { name, namespace: 'ns' }
    const ports = [{ port: port() }]
    reader.put('', 'services', { metadata, spec: { ports: [{ port: 443 }] } })
    reader.put('', 'endpoints', {
      metadata,
      subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports }],
    })
  }
  const to = (name: string, more: Loose = {}) =>
    post(hooks, { url: undefined, service: { namespace: 'ns', name }, ...more })
  for (const name of ['hook', 'hook', 'other', 'hook', 'other'])
    assert.deepEqual(await to(name), { a: 1 })
  assert.equal(sockets.size, 2)
  assert.deepEqual(
    [...sockets].map((socket) => (socket as TLSSocket).servername),
    ['hook.ns.svc', 'other.ns.svc'],
  )
  assert.equal(calls[0].headers.host, 'hook.ns.svc:443')
  assert.match(String(await to('hook', { caBundle: undefined })), /unknown authority$/)
})

test('of many different webhooks the oldest is evicted', async () => {
  const hooks = new HookClient(nobody, ownPlace, 1000, 3)
  const to = (i: number) =>
    post(hooks, { caBundle: Buffer.from(`${ca.pem}\n# ${i}\n`).toString('base64') })
  const made: number[] = []
  for (const i of [0, 1, 2, 0, 3, 1, 0, 3]) {
    await to(i)
    made.push(sockets.size)
  }
  // After the fourth webhook, the first is created again and replaces the second.
  assert.deepEqual(made, [1, 2, 3, 3, 4, 4, 5, 5])
})

const busy =
  (status: number, after: string | undefined, until: number): Answer =>
  (response, call) =>
    call <= until
      ? response.writeHead(status, after === undefined ? {} : { 'retry-after': after }).end('wait')
      : response.end('{"done":true}')
const manyRequests = 'the server has received too many requests and has asked us to try again later'
const retries: [what: string, answer: Answer, calls: number, expected: unknown][] = [
  ['requests a retry without delay', busy(429, '0', 1), 2, { done: true }],
  ['fails and requests a retry without delay', busy(503, '0', 3), 4, { done: true }],
  ['requests ten retries', busy(429, '0', 10), 11, { done: true }],
  ['requests eleven retries', busy(429, '0', 11), 11, manyRequests],
  ['does not specify the delay', busy(429, undefined, 1), 1, manyRequests],
  ['specifies the delay in words', busy(429, 'soon', 1), 1, manyRequests],
  [
    'specifies a delay after a bad request',
    busy(400, '0', 1),
    1,
    'the server rejected our request for an unknown reason',
  ],
  [
    'has moved',
    busy(304, undefined, 1),
    1,
    'the server responded with the status code 304 but did not return more information',
  ],
]
for (const [what, answer, requested, expected] of retries) {
  test(`a webhook that ${what}`, async () => {
    answers = answer
    assert.deepEqual(await post(new HookClient(nobody, ownPlace)), expected)
    assert.equal(calls.length, requested)
  })
}

test('a webhook that sends Retry-After is called again then, within the timeout', async () => {
  answers = busy(429, '1', 1)
  const began = performance.now()
  assert.deepEqual(await post(new HookClient(nobody, ownPlace)), { done: true })
  assert.ok(performance.now() - began >= 990)
  calls = []
  answers = busy(429, '3600', 1)
  const again = performance.now()
  assert.match(
    String(await post(new HookClient(nobody, ownPlace), {}, 300)),
    /context deadline exceeded$/,
  )
  const took = performance.now() - again
  assert.ok(took >= 280 && took < 4000, `${took} ms`)
  assert.equal(calls.length, 1)
})

test('the timeout includes all retries', async () => {
  answers = (response, call) => {
    if (call === 1) setTimeout(() => response.writeHead(503, { 'retry-after': '0' }).end(), 600)
  }
  const began = performance.now()
  assert.match(
    String(await post(new HookClient(nobody, ownPlace), {}, 1500)),
    /context deadline exceeded$/,
  )
  const took = performance.now() - began
  assert.ok(took < 2000, `${took} ms`)
  assert.equal(calls.length, 2)
})

test('a kept connection that was closed is replaced once; a new one that is closed is an error', async () => {
  const hooks = new HookClient(nobody, ownPlace)
  await post(hooks)
  answers = (response, call) => {
    if (call === 2) response.destroy()
    else response.end('{"again":true}')
  }
  assert.deepEqual(await post(hooks), { again: true })
  assert.equal(calls.length, 3)
  calls = []
  answers = (response) => response.destroy()
  assert.match(String(await post(new HookClient(nobody, ownPlace))), /: EOF$/)
  assert.equal(calls.length, 1)
})

test('an incomplete answer is not retried', async () => {
  const hooks = new HookClient(nobody, ownPlace)
  await post(hooks)
  answers = (response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('{"half":', () => response.destroy())
  }
  assert.match(String(await post(hooks)), /^unexpected error when reading response body\. /)
  assert.equal(calls.length, 2)
})

test('a response that is too large is an error', async () => {
  answers = (response) => response.end(`{"a":"${'x'.repeat(1000)}"}`)
  assert.match(
    String(await post(new HookClient(nobody, ownPlace, 1000))),
    /larger than 1000 bytes$/,
  )
  assert.equal(
    Object.keys((await post(new HookClient(nobody, ownPlace, 2000))) as object).length,
    1,
  )
})

const bundles: [what: string, caBundle: string, expected: unknown][] = [
  ['nothing', '', /unknown authority$/],
  ['nonsense', 'eA==', 'unable to load root certificates: unable to parse bytes as PEM block'],
]
for (const [what, caBundle, expected] of bundles) {
  test(`authorities that are ${what}`, async () => {
    const reported = String(await post(new HookClient(nobody, ownPlace), { caBundle }))
    if (typeof expected === 'string') assert.equal(reported, expected)
    else assert.match(reported, expected as RegExp)
  })
}

test('an expired or future certificate is reported with its times', async () => {
  const [dayMs, now] = [86_400_000, Date.now()]
  const times = { notBefore: new Date(now - 2 * dayMs), notAfter: new Date(now - dayMs) }
  const hosts = ['127.0.0.1']
  const subject = [{ CN: ['h'] }]
  const old = await make({ subject, issuer: ca, usages: [serverUsage], hosts, ...times })
  const expired = createServer({ cert: old.pem, key: old.keyPem })
  await new Promise<void>((resolve) => expired.listen(0, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${(expired.address() as AddressInfo).port}/`
  const reported = String(await post(new HookClient(nobody, ownPlace), { url }))
  expired.close()
  assert.match(reported, /expired or is not yet valid: current time \S+Z is after \S+Z$/)
})
