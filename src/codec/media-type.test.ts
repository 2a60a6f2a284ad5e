import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#api/status-error.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import type { AcceptRules } from './accept-header.ts'
import {
  bodyFormat,
  checkRouteAccepts,
  type ResponderKind,
  type PatchFormat,
  type PatchRefusal,
  patchFormat,
  wantedForm,
  wantedStream,
  wantsPretty,
} from './media-type.ts'

const protobuf = 'application/vnd.kubernetes.protobuf'
const table = ';as=Table;g=meta.k8s.io;v=v1'
const partial = ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const only = 'only the following media types are accepted: '
const refused = `406 ${only}application/json, application/yaml, ${protobuf}`
const refusedStream = `406 ${only}application/json;stream=watch, ${protobuf};stream=watch`

function outcome(decide: () => unknown): string {
  try {
    return String(decide())
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `${error.code} ${error.message}`
  }
}
function form(header: string, endpoint: ResponderKind, rules?: AcceptRules): string {
  return outcome(() => {
    const { format, pretty, as } = wantedForm(header, endpoint, rules)
    return `${format}${pretty ? ' pretty' : ''}${as === undefined ? '' : ` ${as.kind} ${as.version}`}`
  })
}

const forms: [string, ResponderKind, string][] = [
  ['', 'built-in', 'json'],
  ['application/json', 'built-in', 'json'],
  ['*/*', 'built-in', 'json'],
  ['*', 'built-in', 'json'],
  ['application/*', 'custom', 'json'],
  ['application/yaml', 'built-in', 'yaml'],
  [protobuf, 'built-in', 'protobuf'],
  [`${protobuf},application/json`, 'built-in', 'protobuf'],
  [`${protobuf}, application/json`, 'custom', 'json'],
  [protobuf, 'custom', refused],
  ['text/html', 'built-in', refused],
  ['application/xml,application/json;q=0.5', 'built-in', 'json'],
  ['application/json;q=0.5,application/yaml;q=0.9', 'built-in', 'yaml'],
  ['*/*;q=1,application/yaml;q=0.1', 'built-in', 'yaml'],
  ['application/json;q=nonsense,application/yaml;q=0.1', 'built-in', 'yaml'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'built-in', 'json'],
  ['application/json;pretty=1', 'built-in', 'json pretty'],
  ['application/json;pretty=0', 'built-in', 'json'],
  ['application/json;stream=watch', 'built-in', 'json'],
  ['application/json;stream=other', 'built-in', refused],
  ['application/yaml;stream=watch', 'built-in', refused],
  ['application/json;charset=utf-8;bogus=1', 'built-in', 'json'],
  [`application/json${table}`, 'built-in', 'json Table v1'],
  [`application/json${table}beta1`, 'built-in', 'json Table v1beta1'],
  [`application/json${table}`, 'custom', 'json Table v1'],
  [`application/yaml${table}`, 'built-in', 'yaml Table v1'],
  [`${protobuf}${table}`, 'built-in', refused],
  [`*/*${table}`, 'built-in', 'json Table v1'],
  [`application/json${table}`, 'document', refused],
  ['application/json;as=Table', 'built-in', refused],
  ['application/json;v=v1', 'built-in', refused],
  ['application/json;as=Bogus;g=meta.k8s.io;v=v1', 'built-in', refused],
  ['application/json;as=Table;g=meta.k8s.io;v=v2', 'built-in', refused],
  ['application/json;as=Table;g=meta.k8s.io;v=v9,application/json', 'built-in', 'json'],
  ['application/json;as=Table;g=meta.k8s.io;v=v9,application/json', 'document', 'json'],
  [`application/json${partial}`, 'built-in', 'json PartialObjectMetadata v1'],
  [`${protobuf}${partial}`, 'built-in', 'protobuf PartialObjectMetadata v1'],
  [`${protobuf}${partial}`, 'custom', 'protobuf PartialObjectMetadata v1'],
  [
    'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1',
    'built-in',
    'json PartialObjectMetadataList v1beta1',
  ],
]
for (const [header, endpoint, expected] of forms) {
  test(`${endpoint}: Accept: ${header}`, () => {
    assert.equal(form(header, endpoint), expected)
    assert.equal(form(header, endpoint), expected, 'and again, remembered')
  })
}

const streams: [string, string][] = [
  ['', 'application/json'],
  ['application/json;stream=watch', 'application/json'],
  [`${protobuf};stream=watch`, `${protobuf};stream=watch`],
  [protobuf, `${protobuf};stream=watch`],
  ['application/yaml', refusedStream],
  ['application/yaml, application/json', refusedStream],
]
for (const [header, expected] of streams) {
  test(`watch: Accept: ${header}`, () => {
    assert.equal(
      outcome(() => wantedStream(header, 'built-in').mediaType),
      expected,
    )
  })
}

const routes: [string, 'any form' | 'json' | 'log', boolean][] = [
  ['', 'any form', true],
  ['*/*', 'any form', true],
  ['*/*;q=0.1', 'json', true],
  ['application/*', 'any form', false],
  ['text/html', 'any form', false],
  ['text/html, application/yaml', 'any form', true],
  ['application/yaml', 'json', false],
  ['application/json;as=Table;g=meta.k8s.io;v=v2', 'json', true],
  [protobuf, 'any form', true],
  ['text/plain', 'any form', false],
  ['text/plain', 'log', true],
  ['text/*', 'log', false],
]
const representations: [Parameters<typeof checkRouteAccepts>[1], string][] = [
  ['any form', `application/json, application/yaml, ${protobuf}`],
  [
    'any form or stream',
    [
      'application/json',
      'application/yaml',
      protobuf,
      'application/json;stream=watch',
      `${protobuf};stream=watch`,
    ].join(', '),
  ],
  ['json', 'application/json'],
  ['log', `text/plain, application/json, application/yaml, ${protobuf}`],
  ['key set', 'application/jwk-set+json'],
]
for (const [produces, types] of representations)
  test(`router: the types of ${produces}`, () => {
    assert.equal(
      outcome(() => checkRouteAccepts('image/png', produces, true)),
      `406 406: Not Acceptable\n\nAvailable representations: ${types}`,
    )
  })

for (const [header, produces, passes] of routes) {
  test(`router: Accept: ${header} for ${produces}`, () => {
    const expected = passes ? 'undefined' : '406 406: Not Acceptable'
    assert.equal(
      outcome(() => checkRouteAccepts(header, produces)),
      expected,
    )
  })
}

const unknown = `415 the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, ${protobuf}`
const bodies: [string, string][] = [
  ['', 'json'],
  ['application/json', 'json'],
  ['application/json; charset=utf-8', 'json'],
  ['Application/JSON;charset="utf-8" ; x=y', 'json'],
  ['application/yaml', 'yaml'],
  [protobuf, 'protobuf'],
  ['application/json;', 'json'],
  ['application/json; charset', unknown],
  ['application/json; a=1; a=2', unknown],
  ['application/json, application/yaml', unknown],
  ['text/plain', unknown],
  ['application/merge-patch+json', unknown],
  ['json', unknown],
]
for (const [header, expected] of bodies) {
  test(`Content-Type: ${header}`, () =>
    assert.equal(
      outcome(() => bodyFormat(header)),
      expected,
    ))
}

const all: PatchFormat[] = ['json-patch', 'merge-patch', 'strategic-merge-patch', 'apply-patch']
const noStrategic = all.filter((one) => one !== 'strategic-merge-patch')
const none = '\n\nAvailable representations: '
const patches: [string, PatchFormat[], 'built-in' | 'custom', PatchRefusal, string][] = [
  ['application/json-patch+json', all, 'built-in', 'unsupported', 'json-patch'],
  ['application/merge-patch+json; charset=utf-8', all, 'built-in', 'unsupported', 'merge-patch'],
  ['application/apply-patch+yaml', noStrategic, 'custom', 'unsupported', 'apply-patch'],
  ['application/json', all, 'built-in', 'unsupported', '415 415: Unsupported Media Type'],
  ['', all, 'built-in', 'unsupported', '415 415: Unsupported Media Type'],
  ['application/json', all, 'built-in', 'not acceptable', '406 406: Not Acceptable'],
  ['', all, 'built-in', 'not acceptable, naming types', `406 406: Not Acceptable${none}`],
  ['', all, 'built-in', 'unsupported, naming types', `415 415: Unsupported Media Type${none}`],
  [
    'application/strategic-merge-patch+json',
    noStrategic,
    'custom',
    'unsupported',
    '415 the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
  ],
]
for (const [header, supported, endpoint, refusal, expected] of patches) {
  test(`patch of ${endpoint}: Content-Type: ${header}`, () => {
    assert.equal(
      outcome(() => patchFormat(header, supported, endpoint, refusal)),
      expected,
    )
  })
}

test('pretty output is requested, or derived from the user agent', () => {
  assert.equal(wantsPretty('true', 'kubectl/v1.22'), true)
  assert.equal(wantsPretty('0', 'curl/7'), false)
  assert.equal(wantsPretty(null, 'curl/7'), true)
  assert.equal(wantsPretty(undefined, 'Mozilla/5.0 (X11)'), true)
  assert.equal(wantsPretty('', 'kubectl/v1.22'), false)
})

// Empty or excess parameters, and ranges with an excess slash: the rules changed in 1.17.
const readOnceAndNow: [header: string, before: string, now: string][] = [
  ['application/json;as=', refused, 'json'],
  ['application/json;as= ;x=1', refused, refused],
  ['application/json;as==', refused, refused],
  ['application/json;as=b=', refused, refused],
  ['application/json;as=b=c', refused, 'json'],
  ['application/json;as', 'json', 'json'],
  ['application/json;g=,application/yaml', 'yaml', 'json'],
  ['application/json;q=0=,application/yaml;q=0.1', 'yaml', 'yaml'],
  ['application/json/', refused, 'json'],
  ['application/json/x', refused, refused],
  ['application/', refused, refused],
  ['*/', refused, 'json'],
]
for (const [header, before, now] of readOnceAndNow) {
  test(`Accept: ${header} before 1.17 and since`, () => {
    assert.equal(form(header, 'built-in', 'before 1.17'), before)
    assert.equal(form(header, 'built-in'), now)
  })
}

const blanks = ' '.repeat(60_000)
const costly: [string, () => string][] = [
  ['an Accept with blanks within', () => form(`a${blanks}b`, 'built-in')],
  ['a Content-Type', () => outcome(() => bodyFormat(`application/json;a=b${blanks}x`))],
]
for (const [what, ask] of costly)
  test(`${what} costs one pass`, () => {
    const took = processorMs(() => assert.match(ask(), /^4\d\d /))
    assert.ok(took < 1000, `${took} ms`)
  })

test('with the feature gate, negotiation offers CBOR', () => {
  const cbor = 'application/cbor'
  const all = `application/json, application/yaml, ${protobuf}, ${cbor}`
  const none = `406 only the following media types are accepted: ${all}`
  const form = (header: string, endpoint: ResponderKind, rules: AcceptRules) =>
    outcome(() => wantedForm(header, endpoint, rules).mediaType)
  const stream = (header: string) =>
    outcome(() => wantedStream(header, 'built-in', 'with CBOR').mediaType)
  const rows: [found: string, expected: string][] = [
    [form(cbor, 'built-in', 'with CBOR'), cbor],
    [form(cbor, 'custom', 'with CBOR'), cbor],
    [form(cbor, 'document', 'with CBOR'), cbor],
    [form('image/png', 'custom', 'with CBOR'), none],
    [form(cbor, 'built-in', 'present'), none.replace(`, ${cbor}`, '')],
    [form(`${cbor};as=Table;g=meta.k8s.io;v=v1`, 'built-in', 'with CBOR'), none],
    [form(`${cbor};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`, 'custom', 'with CBOR'), cbor],
    [stream(cbor), 'application/cbor-seq'],
    [stream('application/cbor-seq'), none],
    [
      stream('application/yaml'),
      `406 only the following media types are accepted: application/json;stream=watch, ${protobuf};stream=watch, application/cbor-seq`,
    ],
    [outcome(() => bodyFormat(cbor, 'with CBOR')), 'cbor'],
    [outcome(() => bodyFormat(cbor)), unknown],
    [outcome(() => bodyFormat('text/plain', 'with CBOR')), `${unknown}, ${cbor}`],
  ]
  for (const [found, expected] of rows) assert.equal(found, expected)
  const routed = (produces: Parameters<typeof checkRouteAccepts>[1], rules: AcceptRules) =>
    outcome(() => checkRouteAccepts('application/cbor-seq', produces, false, rules))
  assert.equal(routed('any form or stream', 'with CBOR'), 'undefined')
  assert.equal(routed('any form', 'with CBOR'), '406 406: Not Acceptable')
  assert.equal(routed('any form or stream', 'present'), '406 406: Not Acceptable')
})
