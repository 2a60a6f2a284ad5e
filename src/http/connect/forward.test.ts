/** The path that a backend receives, and the cache headers of its response. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { AnswerHeaders, Exchange } from '#http/exchange.ts'
import { noTrust } from './backend.ts'
import { forward } from './forward.ts'

let requested: IncomingMessage | undefined
let answers: Record<string, string | string[]> = {}
const server = createServer((request, response) => {
  requested = request
  response.writeHead(200, answers).end()
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo
after(() => {
  server.close()
  server.closeAllConnections()
})

async function forwarded(requestedPath: string, warnings: string[] = []) {
  const outcome = { reported: {} as AnswerHeaders, refused: '', released: 0 }
  requested = undefined
  const exchange = {
    auditId: 'ours',
    warnings,
    answeredBytes: 0,
    seat: { release: () => void outcome.released++ },
    wire: {
      method: 'GET',
      signal: new AbortController().signal,
      stream(_status: number, headers: AnswerHeaders) {
        outcome.reported = headers
        return { write: () => true, drained: async () => {}, end: () => {}, closed: false }
      },
    },
  } as unknown as Exchange
  await forward(exchange, {
    backend: { secure: false, host: '127.0.0.1', port, trust: noTrust },
    path: '/',
    headers: { host: 'a' },
    requestedPath,
    unreachable: (words) => void (outcome.refused = words),
  })
  return outcome
}

const invalid = 'net/http: invalid header field value for "X-Forwarded-Uri"'
// requested path, the path for the backend, the path for the client
const paths: [string, string | undefined, string][] = [
  ['/a b/c%', '/a b/c%', ''],
  ['/\u00e9', '/\u00c3\u00a9', ''],
  ['/\u20ac', '/\u00e2\u0082\u00ac', ''],
  ['/a\tb', '/a\tb', ''],
  ['/a\r\nX-Remote-User: root', undefined, invalid],
  ['/a\nb', undefined, invalid],
  ['/a\0b', undefined, invalid],
  ['/\x7f', undefined, invalid],
]
for (const [path, uri, words] of paths) {
  test(`the path ${JSON.stringify(path)}`, async () => {
    const { refused } = await forwarded(path)
    assert.deepEqual([requested?.headers['x-forwarded-uri'], refused], [uri, words])
  })
}

const unshared = 'no-cache, private'
const old = '299 - "old"'
// a header, its value from the backend, its value for the client
const both: [string, string | string[] | undefined, string | string[] | undefined][] = [
  ['cache-control', undefined, unshared],
  ['cache-control', 'public, max-age=5', [unshared, 'public, max-age=5']],
  ['cache-control', unshared, [unshared, unshared]],
  ['audit-id', undefined, 'ours'],
  ['audit-id', 'theirs', ['ours', 'theirs']],
  ['warning', undefined, [old]],
  ['warning', '299 - "theirs"', [old, '299 - "theirs"']],
  ['x-other', 'theirs', 'theirs'],
]
for (const [name, stated, expected] of both) {
  test(`${name} is ${stated ?? 'nothing'} for the backend`, async () => {
    answers = stated === undefined ? {} : { [name]: stated }
    assert.deepEqual((await forwarded('/', ['old'])).reported[name], expected)
  })
}

test('a response that may last long holds no seat', async () => {
  assert.equal((await forwarded('/')).released, 1)
})
