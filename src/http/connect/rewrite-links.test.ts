/**
 * Rewritten responses of proxied servers, compressed or not. The rules for links are in
 * connect.test.ts.
 */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import test from 'node:test'
import { deflateRawSync, gunzipSync, gzipSync, inflateRawSync } from 'node:zlib'
import type { Passing } from './forward.ts'
import { rewriteAnswer } from './rewrite-links.ts'

const place = { prefix: '/proxy', backendHost: '10.0.0.1:80', requestHost: 'api' }
const page = Buffer.from('<a href="/x">\xe9</a>', 'latin1')
const changed = '<a href="/proxy/x">\xe9</a>'
const html = { 'content-type': 'text/html; charset=latin1' }
const asItIs = (bytes: Buffer) => bytes

async function pass(headers: Passing['headers'], chunks: Buffer[]): Promise<[Passing, Buffer]> {
  const answer = await rewriteAnswer({ status: 200, headers, body: Readable.from(chunks) }, place)
  return [answer, Buffer.concat(await Array.fromAsync(answer.body))]
}

const rows: [coding: string, pack: (bytes: Buffer) => Buffer, unpack: (bytes: Buffer) => Buffer][] =
  [
    ['', asItIs, asItIs],
    ['gzip', gzipSync, gunzipSync],
    ['deflate', deflateRawSync, inflateRawSync],
  ]
for (const [coding, pack, unpack] of rows) {
  test(`a page compressed with ${coding || 'nothing'} is changed, in however many pieces`, async () => {
    const packed = pack(page)
    for (const chunks of [[packed], [packed.subarray(0, 5), packed.subarray(5)]]) {
      const headers = { ...html, ...(coding && { 'content-encoding': coding }) }
      const [answer, body] = await pass(headers, chunks)
      assert.equal(unpack(body).toString('latin1'), changed)
      assert.equal(answer.headers['content-length'], body.length)
    }
  })
}

test('an element named like an inherited member is unknown', async () => {
  const other = Buffer.from('<constructor href="/x">')
  const [, body] = await pass(html, [other, page])
  assert.equal(body.toString('latin1'), `${other}${changed}`)
})

const large = Buffer.concat([page, Buffer.alloc(8 << 20, ' ')])
const untouched: [name: string, headers: Passing['headers'], body: Buffer][] = [
  ['no page', { 'content-type': 'text/plain' }, page],
  ['no content type', {}, page],
  ['nothing', html, Buffer.alloc(0)],
  ['an unknown encoding', { ...html, 'content-encoding': 'br' }, page],
  [
    'a coding by the name of what every object has',
    { ...html, 'content-encoding': 'constructor' },
    page,
  ],
  ['not in the declared encoding', { ...html, 'content-encoding': 'gzip' }, page],
  [
    'packed, and cut short',
    { ...html, 'content-encoding': 'gzip' },
    gzipSync(page).subarray(0, 20),
  ],
  ['too large', html, large],
  [
    'few bytes that decompress to too many',
    { ...html, 'content-encoding': 'gzip' },
    gzipSync(large),
  ],
  ['the same otherwise packed', { ...html, 'content-encoding': 'deflate' }, deflateRawSync(large)],
]
for (const [name, headers, bytes] of untouched) {
  test(`forwarded unchanged: ${name}`, async () => {
    const [answer, body] = await pass(headers, [bytes.subarray(0, 30), bytes.subarray(30)])
    assert.ok(body.equals(bytes))
    assert.deepEqual(answer.headers, headers)
  })
}

test('an incomplete page is reported as such', async () => {
  const body = Readable.from(
    (async function* () {
      yield page
      throw new Error('aborted')
    })(),
  )
  const wanted = { code: 500, reason: '', message: 'unexpected EOF' }
  await assert.rejects(rewriteAnswer({ status: 200, headers: html, body }, place), wanted)
})

test('the Location of a redirect is rewritten, and its page is not', async () => {
  const [answer, body] = await pass({ ...html, location: '/y' }, [page])
  assert.equal(answer.headers.location, '/proxy/y')
  assert.ok(body.equals(page))
})
