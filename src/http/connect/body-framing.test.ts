/** The backend reads exactly one request, whatever length the client declared. */
import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { noTrust } from './backend.ts'
import { callBackend } from './call-backend.ts'

let heard = ''
const backend = createServer((socket) => {
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    heard += bytes
    if (/\r\n\r\n(?!\s*$)|length: 0/.test(heard) || !/length|chunked/.test(heard))
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  })
})
await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
const { port } = backend.address() as AddressInfo
after(() => backend.close())

const hidden = 'GET /smuggled HTTP/1.1\r\nX-Remote-User: root\r\n\r\n'
const chunked = `transfer-encoding: chunked\r\n\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n`

// method, the client's length, body, the backend's request after the path, the error
const rows: [
  string,
  Record<string, string | string[]>,
  Buffer | string[] | undefined,
  string,
  string?,
][] = [
  ['GET', {}, undefined, '\r\n'],
  ['GET', { 'content-length': '5' }, undefined, '\r\n'],
  ['DELETE', {}, undefined, '\r\n'],
  ['POST', {}, undefined, 'content-length: 0\r\n\r\n'],
  ['PUT', { 'content-length': '7' }, undefined, 'content-length: 0\r\n\r\n'],
  ['POST', { 'content-length': '9' }, Buffer.from('abc'), 'content-length: 3\r\n\r\nabc'],
  ['POST', { 'content-length': '3' }, ['a', 'bc'], 'content-length: 3\r\n\r\nabc'],
  ['POST', {}, [hidden], chunked],
  ['GET', {}, [hidden], chunked],
  ['POST', { 'transfer-encoding': 'identity' }, [hidden], chunked],
  ['POST', { 'content-length': ['3', '4'] }, [hidden], chunked],
  ['POST', { 'content-length': '-1' }, [hidden], chunked],
  ['POST', { 'content-length': '0x3' }, [hidden], chunked],
  [
    'POST',
    { 'content-length': '3' },
    ['abc', hidden],
    'content-length: 3\r\n\r\nabc',
    `http: ContentLength=3 with Body length ${hidden.length + 3}`,
  ],
  [
    'POST',
    { 'content-length': '3' },
    [hidden],
    '',
    `http: ContentLength=3 with Body length ${hidden.length}`,
  ],
]

/** In faulty cases the client sends more later, so the first bytes have time to arrive. */
async function* pieces(texts: string[], waits: boolean): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text)
  if (waits) await new Promise((resolve) => setTimeout(resolve, 100))
}

for (const [method, headers, body, wanted, problem] of rows) {
  const name = `${method} ${JSON.stringify(headers)} with ${JSON.stringify(body)?.slice(0, 20)}`
  test(name, async () => {
    heard = ''
    const call = {
      backend: { secure: false, host: '127.0.0.1', port, trust: noTrust },
      method,
      path: '/',
      headers,
      body: Array.isArray(body) ? Readable.from(pieces(body, problem !== undefined)) : body,
      signal: AbortSignal.timeout(5000),
    }
    const failed = await callBackend(call).then(
      (answer) => void answer.resume(),
      ({ message }: Error) => message,
    )
    if (problem === undefined) assert.equal(failed, undefined)
    const after = heard
      .replace(/^\S+ \/ HTTP\/1\.1\r\n/, '')
      .replace(/(?<=chunked[\s\S]*)0\r\n\r\n$/, '')
    assert.ok(wanted.startsWith(after) && (problem !== undefined || after === wanted), heard)
    if (problem !== undefined && failed !== undefined) assert.equal(failed, problem)
  })
}
