/**
 * pods/log: the request to the kubelet, rejected options, and the result for each kubelet response.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { authority, make, serverUsage } from '#access/certificates.suite.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { ApiError } from '#api/status-error.ts'
import type { Exchange } from '#http/exchange.ts'
import type { ConnectParts } from './connect-parts.ts'
import { podLog } from './pod-log.ts'

const reader = new MemoryReader()
let requested: string[] = []
let respond: (request: IncomingMessage, response: ServerResponse) => void = () => {}
const ca = await authority('kubelets')
const made = await make({
  subject: [{ CN: ['k'] }],
  issuer: ca,
  usages: [serverUsage],
  hosts: ['127.0.0.1'],
})
const kubelet = createServer({ cert: made.pem, key: made.keyPem }, (request, response) => {
  requested.push(request.url ?? '')
  respond(request, response)
})

const pod = (name: string, nodeName: string, containers = ['c']) =>
  reader.put('', 'pods', {
    metadata: { name, namespace: 'ns' },
    spec: {
      ...(nodeName !== '' && { nodeName }),
      containers: containers.map((one) => ({ name: one })),
      initContainers: [{ name: 'init' }],
    },
  })
const node = (name: string, addresses: object[], port: number) =>
  reader.put('', 'nodes', {
    metadata: { name },
    status: { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } },
  })

let port = 0
before(async () => {
  await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve))
  port = (kubelet.address() as AddressInfo).port
  const here = [{ type: 'InternalIP', address: '127.0.0.1' }]
  node('here', here, port)
  node('dead', here, 1)
  node('nowhere', [{ type: 'ExternalDNS', address: 'x' }], port)
  node('linked', [{ type: 'InternalIP', address: '169.254.169.254' }], port)
  for (const name of ['here', 'dead', 'nowhere', 'gone', 'linked']) pod(name, name)
  pod('free', '')
  pod('two', 'here', ['a', 'b'])
})
after(() => {
  kubelet.closeAllConnections()
  kubelet.close()
})

interface LogAnswer {
  status: number
  body: string
  ended: 'ended' | 'aborted' | ''
  type: unknown
}

async function ask(name: string, query = '', trusted = true): Promise<LogAnswer | string> {
  requested = []
  const reported: LogAnswer = { status: 0, body: '', ended: '', type: undefined }
  const exchange = {
    target: { namespace: 'ns', name },
    query: new URLSearchParams(query),
    auditId: 'x',
    warnings: [],
    answeredBytes: 0,
    omitsCacheHeaders: true,
    wire: {
      headers: {},
      signal: new AbortController().signal,
      answer: (status: number) => void Object.assign(reported, { status, ended: 'ended' }),
      stream(status: number, headers: Record<string, unknown>) {
        Object.assign(reported, { status, type: headers['content-type'] })
        return {
          write(bytes: Buffer) {
            reported.body += bytes
            return true
          },
          drained: async () => {},
          end: () => void (reported.ended = 'ended'),
          abort: () => void (reported.ended = 'aborted'),
          closed: false,
        }
      },
    },
  } as unknown as Exchange
  const parts = {
    reader,
    kubelet: {
      trust: trusted ? { insecure: false, ca: ca.pem } : { insecure: false },
      blindTrust: { insecure: true },
      addressTypes: ['InternalIP'],
    },
    stopping: new AbortController().signal,
    userAgent: 'us',
  } as unknown as ConnectParts
  try {
    await podLog(exchange, parts)
    return reported
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `${error.code} ${error.message}`.replaceAll(String(port), 'PORT')
  }
}
const hello: typeof respond = (_, response) => response.end('hello')

const passed: [query: string, expected: string][] = [
  ['', ''],
  ['container=c', ''],
  ['follow=true', '?follow=true'],
  ['follow=false', ''],
  ['follow', '?follow=true'],
  ['previous=1&timestamps=yes', '?previous=true&timestamps=true'],
  ['tailLines=0', '?tailLines=0'],
  ['limitBytes=10', '?limitBytes=10'],
  ['sinceSeconds=5', '?sinceSeconds=5'],
  ['sinceTime=2026-01-01T2:00:00,5Z', '?sinceTime=2026-01-01T02%3A00%3A00Z'],
  ['sinceTime=2026-01-01T02:00:00.5%2B02:00', '?sinceTime=2026-01-01T00%3A00%3A00Z'],
  ['unknown=1&pretty=true', ''],
]
for (const [query, expected] of passed) {
  test(`the kubelet gets '${expected}' for '${query}'`, async () => {
    respond = hello
    const reported = await ask('here', query)
    assert.deepEqual(reported, { status: 200, body: 'hello', ended: 'ended', type: 'text/plain' })
    assert.deepEqual(requested, [`/containerLogs/ns/here/c${expected}`])
  })
}

const invalid = (what: string) => `422 PodLogOptions "here" is invalid: ${what}`
const refused: [name: string, query: string, expected: string][] = [
  [
    'here',
    'tailLines=-1',
    invalid('tailLines: Invalid value: -1: must be greater than or equal to 0'),
  ],
  ['here', 'limitBytes=0', invalid('limitBytes: Invalid value: 0: must be greater than 0')],
  ['here', 'sinceSeconds=0', invalid('sinceSeconds: Invalid value: 0: must be greater than 0')],
  [
    'here',
    'sinceSeconds=3&sinceTime=2026-01-01T00:00:00Z',
    invalid('[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified'),
  ],
  ['here', 'tailLines=x', '400 strconv.ParseInt: parsing "x": invalid syntax'],
  [
    'here',
    'sinceTime=2020-13-01T00:00:00Z',
    '400 parsing time "2020-13-01T00:00:00Z": month out of range',
  ],
  [
    'here',
    'sinceTime=2020-01-01',
    '400 parsing time "2020-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"',
  ],
  [
    'here',
    'sinceTime=bad',
    '400 parsing time "bad" as "2006-01-02T15:04:05Z07:00": cannot parse "bad" as "2006"',
  ],
  ['here', 'container=x', '400 container x is not valid for pod here'],
  ['two', '', '400 a container name must be specified for pod two, choose one of: [init a b]'],
  ['none', '', '404 pods "none" not found'],
  ['gone', '', '404 pods "gone" not found'],
  ['linked', '', '400 address not allowed'],
  ['nowhere', '', '500 no preferred addresses found; known addresses: [{ExternalDNS x}]'],
  [
    'dead',
    '',
    '500 Get "https://127.0.0.1:1/containerLogs/ns/dead/c": dial tcp 127.0.0.1:1: connect: connection refused',
  ],
]
for (const [name, query, expected] of refused) {
  test(`the log of ${name} with '${query}' is refused`, async () => {
    assert.equal(await ask(name, query), expected)
    assert.deepEqual(requested, [])
  })
}

const answers: [status: number, headers: Record<string, string>, expected: string | LogAnswer][] = [
  [400, {}, '400 said'],
  [500, {}, '500 Internal error occurred: said'],
  [404, {}, '404 the server could not find the requested resource ( pods/log here)'],
  [503, {}, '503 the server is currently unable to handle the request ( pods/log here)'],
  [
    302,
    { location: 'https://elsewhere:1/x' },
    '500 Get "https://elsewhere:1/x": redirects forbidden',
  ],
  [307, { location: '/x' }, '500 Get "https://127.0.0.1:PORT/x": redirects forbidden'],
  [
    200,
    { 'content-length': '100' },
    { status: 200, body: 'said', ended: 'ended', type: 'text/plain' },
  ],
  [206, {}, { status: 200, body: 'said', ended: 'ended', type: 'text/plain' }],
]
for (const [status, headers, expected] of answers) {
  test(`a kubelet's ${status} ${JSON.stringify(headers)}`, async () => {
    respond = (_, response) => {
      response.writeHead(status, { 'content-type': 'text/plain', ...headers })
      response.write('said')
      // A response that is shorter than its Content-Length is broken off.
      if ('content-length' in headers) setTimeout(() => response.destroy(), 20)
      else response.end()
    }
    assert.deepEqual(await ask('here'), expected)
  })
}

test('a pod without a node has an empty log, not an error', async () => {
  const reported = await ask('free')
  assert.deepEqual(reported, { status: 204, body: '', ended: 'ended', type: undefined })
})

test("the kubelet's identity is verified, unless the client requests otherwise", async () => {
  respond = hello
  assert.match(
    String(await ask('here', '', false)),
    /x509: certificate signed by unknown authority$/,
  )
  const blind = await ask('here', 'insecureSkipTLSVerifyBackend=true', false)
  assert.equal((blind as LogAnswer).body, 'hello')
})

test('an endless error response is forwarded in part', async () => {
  respond = (_, response) => {
    response.writeHead(500)
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384, 'a')));
    }
    response.on('drain', more)
    more()
  }
  const reported = String(await ask('here'))
  assert.match(reported, /^500 Internal error occurred: a+$/)
  assert.ok(reported.length < 51_000, String(reported.length))
})
