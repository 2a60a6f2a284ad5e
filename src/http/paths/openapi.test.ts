/** The format of /openapi/v2 by Accept header, and its Content-Type. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startServed } from '#http/served.fixture.ts'
import { openApiPaths } from './openapi.ts'

const published = (text: string) => ({ bytes: Buffer.from(text), hash: text.toUpperCase() })
const served = await startServed({
  paths: [
    openApiPaths({
      v2: () => published('{"json":2}'),
      v2Protobuf: () => published('protobuf'),
      v3Index: () => published('{"index":3}'),
      v3: () => published('{"json":3}'),
    }),
  ],
})
after(() => served.stop())

const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
const rows: [path: string, accept: string, text: string, type: string | undefined][] = [
  ['/openapi/v2', 'application/json', '{"json":2}', 'text/plain; charset=utf-8'],
  ['/openapi/v2', '*/*', '{"json":2}', 'text/plain; charset=utf-8'],
  ['/openapi/v2', protobuf, 'protobuf', 'application/octet-stream'],
  ['/openapi/v2', `application/json;q=0.5, ${protobuf}`, 'protobuf', 'application/octet-stream'],
  ['/openapi/v2', 'text/plain', '', undefined],
  ['/openapi/v3', '*/*', '{"index":3}', 'application/json'],
]
for (const [path, accept, text, type] of rows) {
  test(`${path} for ${accept}`, async () => {
    const answered = await served.ask('GET', path, { headers: { accept } })
    assert.equal(answered.status, text === '' ? 406 : 200)
    assert.deepEqual([answered.text, answered.headers['content-type']], [text, type])
  })
}

test('304 has no Content-Type', async () => {
  const answered = await served.ask('GET', '/openapi/v2', { headers: { 'if-none-match': '*' } })
  assert.deepEqual([answered.status, answered.headers['content-type']], [304, undefined])
})
