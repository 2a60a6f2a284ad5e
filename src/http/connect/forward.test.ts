/** What a backend is told of the path, and what caches are told of its answer. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { AnswerHeaders, Exchange } from '#http/exchange.ts'
import { noTrust } from './backend.ts'
import { forward } from './forward.ts'

let asked: IncomingMessage | undefined
let answers: Record<string, string | string[]> = {}
const server = createServer((request, response) => {
  asked = request
  response.writeHead(200, answers).end()
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo
after(() => {
  server.close()
  server.closeAllConnections()
})

async function forwarded(askedPath: string) {
  const outcome = { told: {} as AnswerHeaders, refused: '', released: 0 }
  asked = undefined
  const exchange = {
    auditId: 'ours',
    warnings: [],
    answeredBytes: 0,
    seat: { release: () => void outcome.released++ },
    wire: {
      method: 'GET',
      signal: new AbortController().signal,
      stream(_status: number, headers: AnswerHeaders) {
        outcome.told = headers
        return { write: () => true, drained: async () => {}, end: () => {}, closed: false }
      },
    },
  } as unknown as Exchange
  await forward(exchange, {
    backend: { secure: false, host: '127.0.0.1', port, trust: noTrust },
    path: '/',
    headers: { host: 'a' },
    askedPath,
    unreachable: (words) => void (outcome.refused = words),
  })
  return outcome
}

const invalid = 'net/http: invalid header field value for "X-Forwarded-Uri"'
// path asked for, what the backend is told of it, what the client is told
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
    assert.deepEqual([asked?.headers['x-forwarded-uri'], refused], [uri, words])
  })
}

const ours = 'no-cache, private'
// what the backend says of caches, what the client is told
const caches: [string | string[] | undefined, string[]][] = [
  [undefined, [ours]],
  ['public, max-age=5', [ours, 'public, max-age=5']],
  [ours, [ours, ours]],
]
for (const [said, expected] of caches) {
  test(`caches are told ${said ?? 'nothing'} by the backend`, async () => {
    answers = said === undefined ? {} : { 'cache-control': said }
    assert.deepEqual((await forwarded('/')).told['cache-control'], expected)
  })
}

test('the request keeps the name it has here', async () => {
  answers = { 'audit-id': 'theirs' }
  assert.equal((await forwarded('/')).told['audit-id'], 'ours')
})

test('an answer that may take long takes nobody the place', async () => {
  assert.equal((await forwarded('/')).released, 1)
})
