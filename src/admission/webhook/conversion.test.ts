import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { conversionWebhooks } from './conversion.ts'
import { WebhookServer } from './webhook-server.suite.ts'

let webhook: WebhookServer
before(async () => {
  webhook = await WebhookServer.start()
})
after(() => webhook.stop())

// Nothing answers at the address of the service itself: only its endpoints are there.
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

test('many objects are one call, and metadata stays but for labels and annotations', async () => {
  answerWith((object) => ({
    ...object,
    metadata: { ...object.metadata, generation: 99, labels: { c: 'd' } },
    spec: { weight: object.spec.size },
  }))
  const asked = webhook.received.length
  const converted = await convert(definition(url()), [gear('x'), gear('y')], 'example.com/v2')
  assert.equal(webhook.received.length, asked + 1)
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

test('the first known review version is spoken', async () => {
  answerWith((object) => object, { uid: 'other' }, 'v1beta1')
  await convert(definition(url(), ['v9', 'v1beta1', 'v1']), [gear('x')], 'example.com/v2')
  assert.equal(webhook.received.at(-1)?.review.apiVersion, 'apiextensions.k8s.io/v1beta1')
})

test('a service is reached at its endpoint under its name', async () => {
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
const refusals: [string, () => void, string][] = [
  [
    'a failure in its own words',
    () => answerWith((object) => object, { result: { status: 'Failure', message: 'no' } }),
    `${of} failed: no`,
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
    'the wrong version',
    () => answerWith((object) => ({ ...object, apiVersion: 'example.com/v3' })),
    `${of} returned invalid converted object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)`,
  ],
  [
    'another name',
    () => answerWith((object) => ({ ...object, metadata: { ...object.metadata, name: 'z' } })),
    `${of} returned invalid converted object at index 0: must have the same name: x != z`,
  ],
]
for (const [name, prepare, message] of refusals) {
  test(`refused: ${name}`, async () => {
    prepare()
    await assert.rejects(
      convert(definition(url()), [gear('x')], 'example.com/v2'),
      (error: ApiError) => {
        assert.equal(error.code, 500)
        assert.equal(error.message, `Internal error occurred: ${message}`)
        return true
      },
    )
  })
}

test('authorities that the definition does not name are not trusted', async () => {
  const untrusted = definition({ ...url(), caBundle: '' })
  await assert.rejects(convert(untrusted, [gear('x')], 'example.com/v2'), ApiError)
})
