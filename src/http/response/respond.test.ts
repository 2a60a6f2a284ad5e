/** The representation that a client gets for its Accept header, and the headers of the response. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { encodeCut } from '#codec/cut-object.ts'
import type { Answer } from '#verbs/answer.ts'
import type { Exchange, Sink } from '#http/exchange.ts'
import type { HttpParts } from '#http/parts.ts'
import { respond } from './respond.ts'
import { type Served, startServed } from '#http/served.fixture.ts'
import type { Shape } from './shape.ts'

let served: Served
before(async () => {
  served = await startServed()
  for (const name of ['a', 'b', 'c']) {
    await served.verbs.create('configmaps', { metadata: { name, labels: { n: name } } })
  }
  await served.verbs.settled()
})
after(() => served.stop())

const configMaps = '/api/v1/namespaces/default/configmaps'
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1'
const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const partialList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

test('the first acceptable clause of the Accept header decides the representation', async () => {
  const cases: [accept: string, path: string, status: number, type: string, kind: string][] = [
    ['application/json', `${configMaps}/a`, 200, 'application/json', 'ConfigMap'],
    ['*/*', `${configMaps}/a`, 200, 'application/json', 'ConfigMap'],
    ['', `${configMaps}/a`, 200, 'application/json', 'ConfigMap'],
    [table, `${configMaps}/a`, 200, 'application/json', 'Table'],
    [table, configMaps, 200, 'application/json', 'Table'],
    [partial, `${configMaps}/a`, 200, 'application/json', 'PartialObjectMetadata'],
    [partialList, configMaps, 200, 'application/json', 'PartialObjectMetadataList'],
    [partial, configMaps, 406, 'application/json', 'Status'],
    [partialList, `${configMaps}/a`, 406, 'application/json', 'Status'],
    ['text/html', `${configMaps}/a`, 406, 'application/json', 'Status'],
    [
      'application/xml,application/json;q=0.5',
      configMaps,
      200,
      'application/json',
      'ConfigMapList',
    ],
    [table.replace('v=v1', 'v=v9'), configMaps, 406, 'application/json', 'Status'],
    [
      `${table.replace('v=v1', 'v=v9')},application/json`,
      configMaps,
      200,
      'application/json',
      'ConfigMapList',
    ],
    // An error is never a table, whatever the client requested.
    [table, `${configMaps}/none`, 404, 'application/json', 'Status'],
    [
      `application/yaml;as=Table;g=meta.k8s.io;v=v1`,
      `${configMaps}/none`,
      404,
      'application/json',
      'Status',
    ],
  ]
  for (const [accept, path, status, type, kind] of cases) {
    const answer = await served.ask('GET', path, { headers: { accept } })
    assert.equal(answer.status, status, `${accept} ${path}: ${answer.text}`)
    assert.equal(answer.headers['content-type'], type, accept)
    assert.equal(answer.json.kind, kind, accept)
  }
})

test('YAML and protobuf are sent as such, errors too', async () => {
  const yaml = await served.ask('GET', `${configMaps}/none`, {
    headers: { accept: 'application/yaml' },
  })
  assert.equal(yaml.headers['content-type'], 'application/yaml')
  assert.match(yaml.text, /^apiVersion: v1\ncode: 404\n/)
  const accept = 'application/vnd.kubernetes.protobuf'
  for (const path of [`${configMaps}/a`, configMaps, `${configMaps}/none`]) {
    const answer = await served.ask('GET', path, { headers: { accept } })
    assert.equal(answer.headers['content-type'], accept, path)
    assert.deepEqual([...answer.body.subarray(0, 4)], [0x6b, 0x38, 0x73, 0], path)
  }
})

test('a watch of tables has its columns once', async () => {
  const { text } = await served.ask('GET', `${configMaps}?watch=1&timeoutSeconds=1`, {
    headers: { accept: table },
  })
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    events.map(({ type, object }) => [
      type,
      object.kind,
      object.columnDefinitions?.length ?? 0,
      object.rows.length,
    ]),
    [
      ['ADDED', 'Table', 3, 1],
      ['ADDED', 'Table', 0, 1],
      ['ADDED', 'Table', 0, 1],
    ],
  )
})

test('pretty output by parameter, by media type, and for browsers', async () => {
  const cases: [headers: Record<string, string>, query: string, isPretty: boolean][] = [
    [{}, '', false],
    [{}, '?pretty=true', true],
    [{}, '?pretty=1', true],
    [{}, '?pretty=0', false],
    [{ accept: 'application/json;pretty=1' }, '', true],
    [{ 'user-agent': 'curl/8.0' }, '', true],
    [{ 'user-agent': 'curl/8.0' }, '?pretty=false', false],
    [{ 'user-agent': 'kubectl/v1.22' }, '', false],
  ]
  for (const [headers, query, isPretty] of cases) {
    const { text } = await served.ask('GET', `${configMaps}/a${query}`, { headers })
    assert.equal(text.startsWith('{\n  "kind"'), isPretty, JSON.stringify([headers, query]))
  }
})

test('large responses are compressed for clients that accept it, small ones never', async () => {
  const data = { text: 'abcdefgh'.repeat(20_000) }
  await served.verbs.create('configmaps', { metadata: { name: 'large' }, data })
  // Just below and exactly 128 KiB.
  for (const [name, kibibytes] of [
    ['large-below', 127],
    ['large-above', 128],
  ] as const) {
    const text = 'x'.repeat(kibibytes * 1024)
    await served.verbs.create('configmaps', { metadata: { name }, data: { text } })
  }
  await served.verbs.settled()
  const cases: [path: string, encoding: string | undefined, isPacked: boolean][] = [
    [`${configMaps}/large`, 'gzip', true],
    [`${configMaps}/large`, 'deflate, gzip ,br', true],
    // As in kube-apiserver, gzip with a quality value, even 0, is accepted.
    [`${configMaps}/large`, 'deflate, gzip;q=0.5', false],
    [`${configMaps}/large`, 'gzip;q=0', false],
    [`${configMaps}/large-below`, 'gzip', false],
    [`${configMaps}/large-above`, 'gzip', true],
    [`${configMaps}/large`, undefined, false],
    [`${configMaps}/large`, 'deflate', false],
    [configMaps, 'gzip', true],
    [`${configMaps}/a`, 'gzip', false],
  ]
  for (const [path, encoding, isPacked] of cases) {
    const headers = encoding === undefined ? {} : { 'accept-encoding': encoding }
    const { headers: stated, body } = await served.ask('GET', path, { headers })
    assert.equal(stated['content-encoding'], isPacked ? 'gzip' : undefined, `${path} ${encoding}`)
    const text = (isPacked ? gunzipSync(body) : body).toString()
    assert.match(JSON.parse(text).kind, /^ConfigMap/)
  }
  for (const name of ['large-below', 'large-above']) await served.verbs.remove('configmaps', name)
  await served.verbs.settled()
})

test('a long list that fails halfway is broken off, compressed or not', async () => {
  const kind = served.kind('', 'v1', 'configmaps')
  const cut = encodeCut({ metadata: { name: 'a' }, data: { a: 'x'.repeat(1 << 20) } })
  const whole = { cut, key: 'a', namespace: 'default', name: 'a', revision: 1, apiVersion: 'v1' }
  const torn = {
    ...whole,
    get revision(): number {
      throw new Error('torn')
    },
  }
  const entries = [...Array(40).fill(whole), torn]
  const answer: Answer = {
    is: 'list',
    kind,
    entries,
    revision: 1,
    continueToken: '',
    remaining: undefined,
  }
  for (const encoding of ['', 'gzip']) {
    const ends: string[] = []
    const sink: Sink = {
      write: () => true,
      drained: async () => {},
      end: () => void ends.push('ended'),
      abort: () => void ends.push('broken off'),
      closed: false,
    }
    const wire = { headers: { 'accept-encoding': encoding }, stream: () => sink }
    const exchange = { wire, target: { subresource: '' }, warnings: [] } as unknown as Exchange
    const shape = { format: 'json', plainJson: true } as Shape
    await assert.rejects(async () => respond(exchange, served.parts, answer, shape), /torn/)
    assert.deepEqual(ends, ['broken off'], encoding)
  }
})

test('every response has cache headers and its audit ID', async () => {
  for (const path of [configMaps, `${configMaps}/none`, '/apis', '/nothing']) {
    const { headers } = await served.ask('GET', path)
    assert.equal(headers['cache-control'], 'no-cache, private', path)
    assert.ok(headers['audit-id'], path)
  }
  const { headers } = await served.ask('GET', configMaps, { headers: { 'audit-id': 'mine' } })
  assert.equal(headers['audit-id'], 'mine')
})

test('a page has the remaining count only if it is known, and a continue token', async () => {
  const cases: [query: string, names: string, remaining: number | undefined, goesOn: boolean][] = [
    ['limit=2', 'a b', 2, true],
    ['limit=2&labelSelector=n', 'a b', undefined, true],
    ['limit=500', 'a b c large', undefined, false],
    ['labelSelector=n%20in%20(a,c)', 'a c', undefined, false],
    ['fieldSelector=metadata.name%3Db', 'b', undefined, false],
  ]
  for (const [query, names, remaining, goesOn] of cases) {
    const { json } = await served.ask('GET', `${configMaps}?${query}`)
    const { items, metadata } = json as {
      items: { metadata: { name: string } }[]
      metadata: Record<string, unknown>
    }
    assert.equal(items.map((item) => item.metadata.name).join(' '), names, query)
    assert.equal(metadata.remainingItemCount, remaining, query)
    assert.equal(Boolean(metadata.continue), goesOn, query)
  }
})

test('a rejection with a retry time has it in the body and in a header', async () => {
  const future = `${configMaps}?resourceVersion=999999`
  const answer = await served.ask('GET', future)
  assert.equal(answer.status, 504)
  assert.equal(answer.json.details.retryAfterSeconds, 1)
  assert.equal(answer.headers['retry-after'], '1')
})

test('lists that are encoded as a whole are accepted while memory for all of them is left', async () => {
  const kind = served.kind('', 'v1', 'configmaps')
  const bytes = Object.defineProperty(Buffer.from('{}'), 'length', { value: 200 << 20 })
  const one = { key: 'a', namespace: 'default', name: 'a', revision: 1, apiVersion: 'v1' }
  const entries = [{ ...one, cut: { ...encodeCut({ metadata: { name: 'a' } }), bytes } }]
  const answer = { is: 'list', kind, entries, revision: 1, continueToken: '' } as unknown as Answer
  const parseStored = () => ({ metadata: { name: 'a' } })
  const parts = { server: { ...served.parts.server, parseStored } } as unknown as HttpParts
  const leaving: (() => void)[] = []
  const ask = async (format: Shape['format']) => {
    const shape = { format, pretty: true, contentType: 'x' } as Shape
    let reported = 0
    const wire = {
      method: 'GET',
      headers: {},
      answer: (status: number) => {
        reported = status
      },
      answerPieces: (status: number) => {
        reported = status
      },
      onClose: (listener: () => void) => void leaving.push(listener),
    }
    const exchange = { wire, target: { subresource: '', path: '' }, warnings: [] }
    await respond(exchange as unknown as Exchange, parts, answer, shape)
    return reported
  }
  for (const format of ['json', 'yaml', 'protobuf'] as const) {
    // Two requests at once: the second fits too, and neither is rejected after it was encoded.
    assert.deepEqual(await Promise.all([ask(format), ask(format)]), [200, 200], format)
    await assert.rejects(ask(format), { code: 429 }, format)
    for (const leave of leaving.splice(0)) leave()
  }
})
