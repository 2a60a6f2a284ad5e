/** The formats and content types of the OpenAPI documents, and the response without a document. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { releaseOf } from '#api/releases/change.ts'
import { startServed } from '#http/served.fixture.ts'
import { openApiPaths } from './openapi.ts'

const published = (text: string) => ({ bytes: Buffer.from(text), hash: text.toUpperCase() })
const serve = (release: number) =>
  startServed({
    paths: [
      openApiPaths(
        {
          v2: () => published('{"json":2}'),
          v2Protobuf: () => published('protobuf'),
          v3Index: () => published('{"index":3}'),
          v3: (name) => (name === 'apis/apps/v1' ? published('{"json":3}') : undefined),
        },
        releaseOf(release),
      ),
    ],
  })
const served = await serve(22)
after(() => served.stop())

const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
const detected = 'text/plain; charset=utf-8'
const rows: [path: string, accept: string, text: string, type: string | undefined][] = [
  ['/openapi/v2', 'application/json', '{"json":2}', detected],
  ['/openapi/v2', '*/*', '{"json":2}', detected],
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

const json = 'application/json'
const thirdForms: [release: number, path: string, status: number, type: string | undefined][] = [
  [23, '/openapi/v3', 200, json],
  [24, '/openapi/v3', 200, detected],
  [37, '/openapi/v3', 200, detected],
  [23, '/openapi/v3/', 200, json],
  [24, '/openapi/v3/', 404, undefined],
  [23, '/openapi/v3/apis/apps/v1', 200, json],
  [24, '/openapi/v3/apis/apps/v1', 200, detected],
  [26, '/openapi/v3/apis/apps/v1', 200, detected],
  [27, '/openapi/v3/apis/apps/v1', 200, json],
  [24, '/openapi/v3/apis/apps/v1/', 404, undefined],
  [23, '/openapi/v3/apis/nope/v1', 404, json],
  [24, '/openapi/v3/apis/nope/v1', 404, undefined],
  [37, '/openapi/v3/logs', 404, undefined],
]
for (const [release, path, status, type] of thirdForms) {
  test(`${path} as 1.${release}`, async (context) => {
    const server = await serve(release)
    context.after(() => server.stop())
    const answered = await server.ask('GET', path)
    assert.deepEqual([answered.status, answered.headers['content-type']], [status, type])
    if (type === undefined) assert.equal(answered.text, '')
  })
}

test('304 has no Content-Type', async () => {
  const answered = await served.ask('GET', '/openapi/v2', { headers: { 'if-none-match': '*' } })
  assert.deepEqual([answered.status, answered.headers['content-type']], [304, undefined])
})
