/**
 * Whether a server behind answers: what counts as an answer, the user of the request, and the
 * message when there is none.
 */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { after, before, mock, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { authority, client, type Made, serving } from '#access/certificates.suite.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { discoveryProbe } from './probe-discovery.ts'
import { NoSuchPlace } from './service-address.ts'

let server: Server
let port = 0
let proxy: Made
/** The status of each response, undefined for no response; the last one is repeated. */
let answers: (number | undefined)[] = []
const requested: string[] = []

before(async () => {
  const ca = await authority('a')
  proxy = await client(ca, 'front-proxy', [])
  const own = await serving(ca)
  const keys = { cert: own.pem, key: own.keyPem, requestCert: true, rejectUnauthorized: false }
  server = createServer(keys, ({ url, headers, socket }, response) => {
    const { CN } = (socket as TLSSocket).getPeerCertificate().subject ?? {}
    const groups = headers['x-remote-group']
    requested.push(`${url} ${headers['x-remote-user']} ${groups} by ${CN}`)
    const status = answers.length > 1 ? answers.shift() : answers[0]
    if (status !== undefined) response.writeHead(status, { location: '/elsewhere' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
after(() => {
  server.close()
  server.closeAllConnections()
})

const service = { namespace: 'ns', name: 's', port: 443 }
const apiService = {
  metadata: { name: 'v1.g' },
  spec: { group: 'g', version: 'v1', service },
} as unknown as KubeObject

const lookAt = (place: number | Error) =>
  discoveryProbe(
    async () => {
      if (place instanceof Error) throw place
      return { host: '127.0.0.1', port: place }
    },
    { cert: proxy.pem, key: proxy.keyPem },
  )(apiService, service)

const url = (at: number) => `https://127.0.0.1:${at}/apis/g/v1`
const failing = (at: number, why: string) => `failing or missing response from ${url(at)}: ${why}`

// responses, the reported status (undefined: success)
const statuses: [number[], number | undefined][] = [
  [[200], undefined],
  [[204], undefined],
  [[500, 500, 500, 500, 200], undefined],
  [[403], 403],
  [[404], 404],
  [[302], 302],
  [[503], 503],
]
for (const [given, reported] of statuses) {
  test(`answers of ${given}`, async () => {
    answers = [...given]
    requested.length = 0
    const why = reported && failing(port, `bad status from ${url(port)}: ${reported}`)
    assert.equal(await lookAt(port), why)
    const line = '/apis/g/v1 system:kube-aggregator system:masters by front-proxy'
    assert.deepEqual([...new Set(requested)], [line])
  })
}

test('no server listens', async () => {
  const why = `Get "${url(1)}": dial tcp 127.0.0.1:1: connect: connection refused`
  assert.equal(await lookAt(1), failing(1, why))
})

test('the address does not exist', async () => {
  assert.equal(await lookAt(new NoSuchPlace('service "s" not found')), 'service "s" not found')
})

test('the server speaks HTTP instead of TLS', async () => {
  const plain = createTcpServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
  const at = (plain.address() as AddressInfo).port
  const words = await lookAt(at)
  plain.close()
  const why = `Get "${url(at)}": http: server gave HTTP response to HTTPS client`
  assert.equal(words, failing(at, why))
})

// what the server does, the words after five seconds
const silences: [string, string][] = [
  ['connects', 'net/http: request canceled while waiting for connection'],
  ['listens', 'context deadline exceeded'],
]
for (const [does, words] of silences) {
  test(`a server that only ${does}`, async () => {
    const late = new AbortController()
    mock.method(AbortSignal, 'timeout', () => late.signal)
    answers = [undefined]
    requested.length = 0
    let connected = 0
    const silent = createTcpServer(() => void connected++)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const at = does === 'listens' ? port : (silent.address() as AddressInfo).port
    const looking = lookAt(at)
    while ((does === 'listens' ? requested.length : connected) < 5)
      await new Promise((resolve) => setImmediate(resolve))
    late.abort()
    const why = `Get "${url(at)}": ${words} (Client.Timeout exceeded while awaiting headers)`
    assert.equal(await looking, failing(at, why))
    mock.restoreAll()
    silent.close()
  })
}
