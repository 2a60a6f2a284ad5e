import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { conversionWebhooks } from './conversion.ts'
import { ownPlace, WebhookServer } from './webhook-server.suite.ts'

let webhook: WebhookServer
before(async () => {
  webhook = await WebhookServer.start()
})
after(() => webhook.stop())

// Nothing listens at the address of the service itself; only its endpoints exist.
const objects = (): Record<string, Loose> => ({
  'services/hook': { spec: { clusterIP: '192.0.2.1', ports: [{ name: 'https', port: 443 }] } },
  'endpoints/hook': {
    subsets: [
      { addresses: [], ports: [{ name: 'https', port: 1 }] },
      { addresses: [{ ip: '127.0.0.1' }], ports: [{ name: 'https', port: webhook.port }] },
    ],
  },
  'services/idle': { spec: { clusterIP: '192.0.2.1', ports: [{ port: 443 }] } },
})
const reader = {
  get: async (_group: string, plural: string, _namespace: string, name: string) =>
    objects()[`${plural}/${name}`],
} as unknown as ObjectReader
const convert = conversionWebhooks(
  () => reader,
  () => 'u1',
  ownPlace,
)

const definition = (clientConfig: Loose, versions = ['v1']): KubeObject => ({
  metadata: { name: 'gears.example.com' },
  spec: {
    conversion: {
      strategy: 'Webhook',
      webhook: {
        clientConfig: { caBundle: Buffer.from(webhook.ca.pem).toString('base64'), ...clientConfig },
        conversionReviewVersions: versions,
      },
    },
  },
})
const url = () => ({ url: `https://127.0.0.1:${webhook.port}/convert` })
const gear = (name: string): KubeObject => ({
  kind: 'Gear',
  apiVersion: 'example.com/v1',
  metadata: { name, uid: name, generation: 3, labels: { a: 'b' } },
  spec: { size: 1 },
})

function answerWith(change: (object: Loose) => Loose, more: Loose = {}, version = 'v1'): void {
  webhook.paths.set('/convert', ({ uid, objects, desiredAPIVersion }) =>
    JSON.stringify({
      kind: 'ConversionReview',
      apiVersion: `apiextensions.k8s.io/${version}`,
      response: {
        uid,
        result: { status: 'Success' },
        convertedObjects: objects.map((object: Loose) =>
          change({ ...object, apiVersion: desiredAPIVersion }),
        ),
        ...more,
      },
    }),
  )
}

test('many objects are one call, and only labels and annotations of metadata may change', async () => {
  answerWith((object) => ({
    ...object,
    metadata: { ...object.metadata, generation: 99, labels: { c: 'd' } },
    spec: { weight: object.spec.size },
  }))
  const requested = webhook.received.length
  const converted = await convert(definition(url()), [gear('x'), gear('y')], 'example.com/v2')
  assert.equal(webhook.received.length, requested + 1)
  assert.deepEqual(converted, [
    {
      ...gear('x'),
      apiVersion: 'example.com/v2',
      spec: { weight: 1 },
      metadata: { ...gear('x').metadata, labels: { c: 'd' } },
    },
    {
      ...gear('y'),
      apiVersion: 'example.com/v2',
      spec: { weight: 1 },
      metadata: { ...gear('y').metadata, labels: { c: 'd' } },
    },
  ])
})

test('integers of converted objects are exact', async () => {
  answerWith((object) => ({ ...object, spec: { weight: 9007199254740993n } }))
  const [converted] = await convert(definition(url()), [gear('x')], 'example.com/v2')
  assert.equal(converted.spec.weight, 9007199254740993n)
})

test('the first supported review version is used', async () => {
  answerWith((object) => object, { uid: 'other' }, 'v1beta1')
  await convert(definition(url(), ['v9', 'v1beta1', 'v1']), [gear('x')], 'example.com/v2')
  assert.equal(webhook.received.at(-1)?.review.apiVersion, 'apiextensions.k8s.io/v1beta1')
})

test('a service is called at its endpoint, under its name', async () => {
  answerWith((object) => object)
  const config = { service: { namespace: 'ns', name: 'hook', path: '/convert' } }
  const [converted] = await convert(definition(config), [gear('x')], 'example.com/v2')
  assert.equal(converted.apiVersion, 'example.com/v2')
  assert.equal(webhook.received.at(-1)?.headers.host, 'hook.ns.svc:443')
})

// service, why it cannot be reached
const nowhere: [Loose, RegExp][] = [
  [{ name: 'none' }, /service "none" not found/],
  [{ name: 'hook', port: 444 }, /no service port 444 found for service "hook"/],
  [{ name: 'idle' }, /no endpoints available for service "idle"/],
]
for (const [service, words] of nowhere) {
  test(`a webhook that is nowhere: ${words.source}`, async () => {
    const config = { service: { namespace: 'ns', ...service } }
    await assert.rejects(convert(definition(config), [gear('x')], 'example.com/v2'), words)
  })
}

const of = 'conversion webhook for example.com/v1, Kind=Gear'
/** Responds with every object changed by this function. */
const each = (change: (object: Loose) => unknown) => () => answerWith(change as (o: Loose) => Loose)
const meta = (more: Loose) =>
  each((object) => ({ ...object, metadata: { ...object.metadata, ...more } }))
/** Responds with a review of these members. */
const review = (more: Loose) => () =>
  webhook.paths.set('/convert', ({ uid }) =>
    JSON.stringify({
      kind: 'ConversionReview',
      apiVersion: 'apiextensions.k8s.io/v1',
      response: { uid, result: { status: 'Success' } },
      ...more,
    }),
  )
const text = (answer: string) => () => webhook.paths.set('/convert', () => answer)
const labelRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

const plainReview = (response: string): string =>
  `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":${response}}`

const refusals: [string, () => void, string][] = [
  [
    'a failure in its own words',
    () => answerWith((object) => object, { result: { status: 'Failure', message: 'no' } }),
    `${of} failed: no`,
  ],
  [
    'a failure without words',
    () => answerWith((object) => object, { result: { status: 'Failure' } }),
    `${of} failed: response.result.status was 'Failure', not 'Success'`,
  ],
  [
    'another uid',
    () => answerWith((object) => object, { uid: 'u2' }),
    `${of} failed: expected response.uid="u1", got "u2"`,
  ],
  [
    'too few objects',
    () => answerWith((object) => object, { convertedObjects: [] }),
    `${of} returned 0 objects, expected 1`,
  ],
  [
    'too many objects',
    () => answerWith((object) => object, { convertedObjects: [{}, {}] }),
    `${of} returned 2 objects, expected 1`,
  ],
  ['no objects at all', review({}), `${of} returned 0 objects, expected 1`],
  [
    'a response that is not an object',
    text(plainReview('"x"')),
    `${of} failed: v1.ConversionReview.Response: readObjectStart: expect { or n, but found ", error found in #10 byte of ...|esponse":"x"}|..., bigger context ...|apiVersion":"apiextensions.k8s.io/v1","response":"x"}|...`,
  ],
  [
    'a result that is not an object',
    text(plainReview('{"result":"Success"}')),
    `${of} failed: v1.ConversionReview.Response: v1.ConversionResponse.Result: readObjectStart: expect { or n, but found ", error found in #10 byte of ...|"result":"Success"}}|..., bigger context ...|":"apiextensions.k8s.io/v1","response":{"result":"Success"}}|...`,
  ],
  [
    'objects that are not a list',
    text(plainReview('{"convertedObjects":{}}')),
    `${of} failed: v1.ConversionReview.Response: v1.ConversionResponse.ConvertedObjects: []runtime.RawExtension: decode slice: expect [ or n, but found {, error found in #10 byte of ...|Objects":{}}}|..., bigger context ...|nsions.k8s.io/v1","response":{"convertedObjects":{}}}|...`,
  ],
  ['nothing instead of an object', each(() => null), 'EOF'],
  [
    'a text instead of an object',
    each(() => 'x'),
    'json: cannot unmarshal string into Go value of type map[string]interface {}',
  ],
  [
    'a list instead of an object',
    each(() => []),
    'json: cannot unmarshal array into Go value of type map[string]interface {}',
  ],
  ['an object without a kind', each(() => ({ a: 1 })), `Object 'Kind' is missing in '{"a":1}'`],
  [
    'the wrong version',
    each((object) => ({ ...object, apiVersion: 'example.com/v3' })),
    `${of} returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)`,
  ],
  [
    'the wrong kind',
    each((object) => ({ ...object, kind: 'Wheel' })),
    `${of} returned invalid object at index 0: invalid kind (expected Gear, received Wheel)`,
  ],
  [
    'another name',
    meta({ name: 'z' }),
    `${of} returned invalid object: must have the same name: x != z`,
  ],
  [
    'another uid of the object',
    meta({ uid: 'z' }),
    `${of} returned invalid object: must have the same UID: x != z`,
  ],
  [
    'no metadata',
    each(({ metadata: _, ...object }) => object),
    `${of} returned invalid object: must have the same name: x != `,
  ],
  [
    'labels that are a list',
    meta({ labels: ['a'] }),
    `${of} returned invalid metadata: invalid metadata.labels of type []interface {} in converted object`,
  ],
  [
    'a label that is a number',
    meta({ labels: { a: 1 } }),
    `${of} returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object`,
  ],
  [
    'an annotation that is nothing',
    meta({ annotations: { a: null } }),
    `${of} returned invalid metadata: metadata.annotations[a] must be a string, but is <nil> in converted object`,
  ],
  [
    'an annotation of no name',
    meta({ annotations: { 'a b': 'c' } }),
    `${of} returned invalid metadata: metadata.annotation: Invalid value: "a b": ${labelRule}`,
  ],
  [
    'a review of another version',
    review({ apiVersion: 'apiextensions.k8s.io/v1beta1' }),
    `${of} failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion`,
  ],
  [
    'a review of another kind',
    review({ kind: 'Pod', apiVersion: 'v1' }),
    `${of} failed: no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:100"`,
  ],
  [
    'a review of no kind',
    review({ kind: undefined }),
    `${of} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got apiextensions.k8s.io/v1, Kind=`,
  ],
  ['no response', review({ response: undefined }), `${of} failed: no response provided`],
  [
    'a body that is not a review',
    text('hello'),
    `${of} failed: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  ],
  [
    'half of an answer',
    text('{"kind":"Conv'),
    `${of} failed: couldn't get version/kind; json parse error: unexpected end of JSON input`,
  ],
  [
    'an empty answer',
    text(''),
    `${of} failed: 0-length response with status code: 200 and content type: application/json`,
  ],
]
for (const [name, prepare, message] of refusals) {
  test(`refused: ${name}`, async () => {
    prepare()
    await assert.rejects(
      convert(definition(url()), [gear('x')], 'example.com/v2'),
      (error: ApiError) => {
        assert.equal(error.code, 500)
        assert.equal(error.message, message)
        assert.equal(error.reason, '')
        return true
      },
    )
  })
}

test('a missing webhook is reported with its address and its timeout', async () => {
  const away = definition({ url: 'https://127.0.0.1:1/convert' })
  await assert.rejects(convert(away, [gear('x')], 'example.com/v2'), {
    message: `${of} failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`,
  })
})

test('a redirect is not followed', async () => {
  const before = webhook.received.length
  for (const status of [301, 302, 303, 307, 308]) {
    const path = `/sent-${status}`
    webhook.redirects.set(path, { status, location: '/convert' })
    const config = { url: `https://127.0.0.1:${webhook.port}${path}` }
    const made = convert(definition(config), [gear('a')], 'example.com/v2')
    await assert.rejects(made, new RegExp(`status code ${status} but did not return more`))
  }
  const requested = webhook.received.slice(before).map(({ path }) => path)
  assert.deepEqual(requested, ['/sent-301', '/sent-302', '/sent-303', '/sent-307', '/sent-308'])
})

test("authorities outside the definition's bundle are not trusted", async () => {
  const untrusted = definition({ ...url(), caBundle: '' })
  await assert.rejects(convert(untrusted, [gear('x')], 'example.com/v2'), ApiError)
})
