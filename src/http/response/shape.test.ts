/**
 * The representation of a response, by Accept header, query, user agent and kind. The parsing of
 * media types is tested in codec/media-type.test.ts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf } from '#admission/requests.suite.ts'
import { ApiError } from '#api/status-error.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Exchange } from '#http/exchange.ts'
import { parseTarget } from '#http/request/request-target.ts'
import { documentShape, negotiateShape, type Shape, shapeOfError } from './shape.ts'

const pods = kindOf('v1', 'pods')
const custom = {
  ...pods,
  origin: 'custom',
  formats: new Set(['json', 'yaml']),
  decoding: 'free',
} as Kind
const noTables = { ...pods, tables: false } as Kind
const protobuf = 'application/vnd.kubernetes.protobuf'
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const scaled = kindOf('apps/v1', 'deployments')
const reviews = kindOf('authorization.k8s.io/v1', 'subjectaccessreviews')
const components = kindOf('v1', 'componentstatuses')
const statusPath = '/api/v1/namespaces/default/pods/p/status'
const scalePath = '/apis/apps/v1/namespaces/default/deployments/d/scale'

interface Asked {
  readonly accept?: string | string[]
  readonly agent?: string
  readonly query?: string
  readonly path?: string
}
function exchangeOf({ accept, agent, query = '', path = '/api/v1/pods' }: Asked): Exchange {
  const search = new URLSearchParams(query)
  const headers = { accept, 'user-agent': agent }
  return {
    wire: { headers },
    query: search,
    target: parseTarget('GET', path, search),
  } as unknown as Exchange
}

/** `json plain`, `json pretty`, `protobuf as Table`. */
function stated(make: () => Shape): string {
  try {
    const { format, as, pretty, plainJson } = make()
    return [
      format,
      ...(plainJson ? ['plain'] : []),
      ...(pretty ? ['pretty'] : []),
      ...(as ? [`as ${as.kind}`] : []),
    ].join(' ')
  } catch (error) {
    if (error instanceof ApiError) return String(error.code)
    throw error
  }
}

const answers: [what: string, requested: Asked, kind: Kind, expected: string][] = [
  ['no Accept header', {}, pods, 'json plain'],
  ['anything', { accept: '*/*' }, pods, 'json plain'],
  ['JSON', { accept: 'application/json' }, pods, 'json plain'],
  ['JSON in several headers', { accept: ['text/html', 'application/json'] }, pods, 'json plain'],
  ['pretty in the query', { query: 'pretty=true' }, pods, 'json pretty'],
  ['pretty refused in the query', { query: 'pretty=false', agent: 'curl/7' }, pods, 'json plain'],
  ['a person with curl', { agent: 'curl/7.88' }, pods, 'json pretty'],
  ['a browser', { agent: 'Mozilla/5.0' }, pods, 'json pretty'],
  ['pretty in the header', { accept: 'application/json;pretty=1' }, pods, 'json pretty'],
  ['YAML', { accept: 'application/yaml' }, pods, 'yaml'],
  ['protobuf', { accept: protobuf }, pods, 'protobuf'],
  ['protobuf of a custom kind', { accept: protobuf }, custom, '406'],
  [
    'protobuf or JSON of a custom kind',
    { accept: `${protobuf},application/json` },
    custom,
    'json plain',
  ],
  ['a table', { accept: table }, pods, 'json as Table'],
  ['a table or JSON', { accept: `${table},application/json` }, pods, 'json as Table'],
  ['a table of a kind without tables', { accept: table }, noTables, '406'],
  [
    'a table or JSON of a kind without tables',
    { accept: `${table},application/json` },
    noTables,
    'json plain',
  ],
  ['what is not there', { accept: 'image/png' }, pods, '406'],
  ['a watch in JSON', { query: 'watch=1' }, pods, 'json plain'],
  ['a watch in YAML', { query: 'watch=1', accept: 'application/yaml' }, pods, '406'],
  [
    'a table of what is not of the kind itself',
    { accept: table, path: '/api/v1/namespaces/default/pods/p/eviction' },
    pods,
    '406',
  ],
  ['a table of a status', { accept: table, path: statusPath }, pods, '406'],
  ['a table or JSON of a status', { accept: `${table},*/*`, path: statusPath }, pods, 'json plain'],
  [
    'a table of the status of a custom kind',
    { accept: table, path: statusPath },
    custom,
    'json as Table',
  ],
  ['a table of a scale of a custom kind', { accept: table, path: scalePath }, custom, '406'],
  ['protobuf of a scale of a custom kind', { accept: protobuf, path: scalePath }, custom, '406'],
  [
    'metadata of a status',
    { accept: partial, path: statusPath },
    pods,
    'json as PartialObjectMetadata',
  ],
  [
    'metadata of a scale',
    { accept: partial, path: scalePath },
    scaled,
    'json as PartialObjectMetadata',
  ],
  [
    'metadata of a scale of a custom kind',
    { accept: partial, path: scalePath },
    custom,
    'json as PartialObjectMetadata',
  ],
  [
    'a version of the stream of a scale',
    { accept: 'application/json;sv=v1', path: scalePath },
    scaled,
    'json plain',
  ],
  [
    'a table of a review',
    { accept: table, path: '/apis/authorization.k8s.io/v1/subjectaccessreviews' },
    reviews,
    '406',
  ],
  [
    'a table of states of components',
    { accept: table, path: '/api/v1/componentstatuses' },
    components,
    'json as Table',
  ],
]
for (const [what, requested, kind, expected] of answers) {
  test(`${what}: ${expected}`, () => {
    assert.equal(
      stated(() => negotiateShape(exchangeOf(requested), kind)),
      expected,
    )
  })
}

const documents: [
  requested: Asked,
  produces: Parameters<typeof documentShape>[1],
  expected: string,
][] = [
  [{}, 'any form', 'json plain'],
  [{ accept: protobuf }, 'any form', 'protobuf'],
  [{ accept: protobuf }, 'json', '406'],
  [{ accept: `${protobuf},*/*` }, 'json', 'json plain'],
  [{ accept: 'image/png' }, 'any form', '406'],
  [{ accept: 'image/png' }, 'unrouted', '406'],
  [{ query: 'pretty=1' }, 'any form', 'json pretty'],
]
for (const [requested, produces, expected] of documents) {
  test(`a document that comes in ${produces}, ${JSON.stringify(requested)}: ${expected}`, () => {
    assert.equal(
      stated(() => documentShape(exchangeOf(requested), produces)),
      expected,
    )
  })
}

const refusals: [requested: Asked, expected: string][] = [
  [{}, 'json plain'],
  [{ accept: protobuf }, 'protobuf'],
  [{ accept: 'application/yaml' }, 'yaml'],
  [{ accept: table }, 'json plain'],
  [{ accept: 'image/png' }, 'json plain'],
  [{ agent: 'curl/7' }, 'json pretty'],
]
for (const [requested, expected] of refusals) {
  test(`an error for ${JSON.stringify(requested)} is in ${expected}`, () => {
    assert.equal(
      stated(() => shapeOfError(exchangeOf(requested))),
      expected,
    )
  })
}
