/** CBOR in requests, responses and watches, with its feature gate on and off. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Json, Loose } from '#api/object-meta.ts'
import { decodeCborMap } from '#codec/cbor/decode.ts'
import { encodeCbor } from '#codec/cbor/encode.ts'
import { servesCbor } from '#codec/media-type.ts'
import type { HttpParts } from '#http/parts.ts'
import { startServed } from '#http/served.fixture.ts'

const served = await startServed({ release: 37 })
after(() => served.stop())

const { server } = served.parts
const feature = (name: string) => name === servesCbor || server.feature(name)
const withGate: HttpParts = {
  ...served.parts,
  server: Object.assign(Object.create(server), { feature }),
}

const cbor = 'application/cbor'
const secrets = '/api/v1/namespaces/default/secrets'
const object = (more: object = {}) => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name: 'one' },
  data: { a: 'YWJj' },
  ...more,
})

async function send(method: string, url: string, body: unknown, type = cbor, parts = withGate) {
  const headers = { accept: cbor, 'content-type': type }
  const bytes = Buffer.isBuffer(body) ? body : encodeCbor(body as Json)
  const answered = await served.ask(method, url, { headers, body: bytes }, parts)
  const { status, headers: stated } = answered
  const value = (stated['content-type'] === cbor ? decodeCborMap(answered.body) : {}) as Loose
  return { status, headers: stated, value, message: value.message }
}
const read = (url: string, accept = cbor) =>
  served.ask('GET', url, { headers: { accept } }, withGate)

test('an object is written and read as CBOR', async () => {
  const created = await send('POST', secrets, object())
  assert.equal(created.status, 201)
  assert.equal(created.value.data.a, 'YWJj')
  const got = await read(`${secrets}/one`)
  // A byte string of three bytes with tag 22.
  assert.ok(got.body.includes(Buffer.from('4161d643616263', 'hex')))
  const list = await read(secrets)
  assert.equal(list.headers['content-type'], cbor)
  assert.ok(list.body.includes(Buffer.from('4161d643616263', 'hex')))
  const { kind, items } = decodeCborMap(list.body) as { kind: string; items: Json[] }
  assert.deepEqual([kind, items.length], ['SecretList', 1])
})

const handled = 'Secret in version "v1" cannot be handled as a Secret: '
const unknown = 'cbor: found unknown field at map element index 0'
test('faults of strict decoding are warnings or an error', async () => {
  const foreign = object({ metadata: { name: 'two' }, foo: 1 })
  const strict = await send('POST', `${secrets}?fieldValidation=Strict`, foreign)
  assert.equal(strict.message, `${handled}strict decoding error: ${unknown}`)
  const warned = await send('POST', `${secrets}?dryRun=All`, foreign)
  assert.deepEqual([warned.status, warned.headers.warning], [201, [`299 - "${unknown}"`]])
  const ignored = await send('POST', `${secrets}?dryRun=All&fieldValidation=Ignore`, foreign)
  assert.deepEqual([ignored.status, ignored.headers.warning], [201, undefined])
})

const faults: [body: unknown, message: string][] = [
  [
    { kind: 'Foo', apiVersion: 'v1', data: { a: 1 } },
    'Foo in version "v1" cannot be handled as a Secret: no kind "Foo" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [
    object({ type: 1 }),
    `${handled}cbor: cannot unmarshal positive integer into Go struct field v1.Secret.type of type v1.SecretType`,
  ],
  [
    Buffer.from('a1', 'hex'),
    'the object provided is unrecognized (must be of type Secret): unable to determine group/version/kind: unexpected EOF (a1)',
  ],
]
for (const [body, message] of faults) {
  test(message.slice(-40), async () => {
    const answered = await send('POST', secrets, body)
    assert.deepEqual([answered.status, answered.message], [400, message])
  })
}

test('an apply configuration may be CBOR', async () => {
  const url = `${secrets}/three?fieldManager=me`
  const config = object({ metadata: { name: 'three' } })
  const type = 'application/apply-patch+cbor'
  assert.equal((await send('PATCH', url, config, type)).status, 201)
  const wrong = await send('PATCH', url, Buffer.from('8101', 'hex'), type)
  assert.deepEqual(
    [wrong.status, wrong.message],
    [
      400,
      'error decoding patch: cbor: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
  )
  assert.equal((await send('PATCH', url, config, type, served.parts)).status, 415)
})

test('delete options may be CBOR', async () => {
  const wrong = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 'x' }
  const answered = await send('DELETE', `${secrets}/one?dryRun=All`, wrong)
  assert.deepEqual(
    [answered.status, answered.message],
    [
      400,
      'cbor: cannot unmarshal byte string into Go struct field v1.DeleteOptions.gracePeriodSeconds of type int64',
    ],
  )
})

test('a watch is a sequence of CBOR documents', async () => {
  const url = `${secrets}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Done`
  const watched = await read(url)
  assert.equal(watched.headers['content-type'], 'application/cbor-seq')
  const start = Buffer.from('d9d9f7a24474797065454144444544466f626a656374d9d9f7', 'hex')
  assert.ok(watched.body.subarray(0, start.length).equals(start))
  const none = await read(url.replace('?', 's?'))
  assert.equal(none.status, 404)
})

test('without the feature gate CBOR is not accepted', async () => {
  const headers = { accept: cbor, 'content-type': cbor }
  const got = await served.ask('GET', secrets, { headers })
  assert.equal(got.status, 406)
  const body = encodeCbor(object() as Json)
  const sent = await served.ask('POST', secrets, { headers: { 'content-type': cbor }, body })
  assert.equal(sent.status, 415)
})
