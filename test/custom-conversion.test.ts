/**
 * Writes in a version that only a webhook converts, on a server of its own. Such an object is read,
 * completed and checked in the version of the request, and converted where it is stored. The rules
 * of one version do not apply to the other.
 */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { WebhookServer } from '../src/admission/webhook/webhook-server.suite.ts'
import { type RunningServer, startServer } from './running-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: schemas and objects of any shape
type Any = any

let server: RunningServer
let hooks: WebhookServer
const group = 'turns.example.com'
const place = (version: string) => `/apis/${group}/${version}/namespaces/default/cogs`
const merge = 'application/merge-patch+json'
const ask = (method: string, path: string, body?: unknown, type = 'application/json') =>
  server.ask(method, path, body, { 'content-type': method === 'PATCH' ? merge : type })

const integer = { type: 'integer' }
const version = (name: string, field: string, maxLength: number, storage: boolean): Any => {
  const properties = {
    [field]: { type: 'string', maxLength },
    [`default${name}`]: { ...integer, default: 1 },
  }
  const spec = { type: 'object', required: [field], properties }
  const status = { type: 'object', properties: { ready: { ...integer, maximum: 5 } } }
  const openAPIV3Schema = { type: 'object', properties: { spec, status } }
  const subresources = { status: {} }
  return { name, served: true, storage, schema: { openAPIV3Schema }, subresources }
}

/** The second version writes an exclamation mark behind what is `a` in the first, and says `b`. */
function converted(object: Any, apiVersion: string): Any {
  const { a = object.spec.b?.replace(/!$/, '') ?? '' } = object.spec
  return { ...object, apiVersion, spec: apiVersion.endsWith('v2') ? { b: `${a}!` } : { a } }
}

const isRefused = ({ metadata }: Any) => metadata.annotations?.refuse !== undefined

before(async () => {
  hooks = await WebhookServer.start()
  hooks.paths.set('/convert', ({ uid, objects, desiredAPIVersion }) => {
    const result = { status: 'Success' }
    const convertedObjects = objects.map((one: Any) => converted(one, desiredAPIVersion))
    const response = objects.some(isRefused)
      ? { uid, result: { status: 'Failed', message: 'no way' } }
      : { uid, result, convertedObjects }
    return JSON.stringify({
      kind: 'ConversionReview',
      apiVersion: 'apiextensions.k8s.io/v1',
      response,
    })
  })
  server = await startServer(['--controllers=-*'])
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: hooks.at('/convert') }
  const spec = {
    group,
    scope: 'Namespaced',
    names: { plural: 'cogs', kind: 'Cog' },
    versions: [version('v1', 'a', 3, true), version('v2', 'b', 6, false)],
    conversion: { strategy: 'Webhook', webhook },
  }
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const made = await ask('POST', definitions, { metadata: { name: `cogs.${group}` }, spec })
  assert.equal(made.status, 201, made.text)
  for (let i = 0; (await ask('GET', place('v1'))).status !== 200; i++) {
    assert.ok(i < 200)
    await new Promise((done) => setTimeout(done, 20))
  }
})
after(() => Promise.all([server.stop(), hooks.stop()]))

const cog = (name: string, metadata: Any, spec: Any): Any => ({
  apiVersion: `${group}/${name}`,
  kind: 'Cog',
  metadata,
  spec,
})
const refused = { refuse: 'yes' }
const failed = 'conversion webhook for turns.example.com/v1, Kind=Cog failed: no way'

/** Each with the status it is answered with, and the spec or the words of the answer. */
const rows: readonly [
  what: string,
  ask: readonly [method: string, path: string, body?: Any],
  status: number,
  said: Any,
][] = [
  [
    'too long for the stored version alone is taken',
    ['POST', place('v2'), cog('v2', { name: 'x' }, { b: 'abcde!' })],
    201,
    { b: 'abcde!' },
  ],
  [
    'the stored version has its defaults',
    ['GET', `${place('v1')}/x`],
    200,
    { a: 'abcde', defaultv1: 1 },
  ],
  [
    'the response of the webhook gets no defaults of the version',
    ['GET', `${place('v2')}/x`],
    200,
    { b: 'abcde!' },
  ],
  [
    'too long for the version of the request',
    ['POST', place('v2'), cog('v2', { name: 'y' }, { b: 'abcdefgh' })],
    422,
    /spec\.b in body should be at most 6 chars long/,
  ],
  [
    'what the webhook would add is missing',
    ['POST', place('v2'), cog('v2', { name: 'y' }, {})],
    422,
    /spec\.b: Required value/,
  ],
  [
    'a patch is checked as it is, not as it would come back',
    ['PATCH', `${place('v2')}/x`, { spec: { b: '1234567' } }],
    422,
    /Invalid value: "1234567"/,
  ],
  [
    'what is stored is checked with a change in its version',
    ['PATCH', `${place('v1')}/x`, { metadata: { labels: { a: 'b' } } }],
    422,
    /spec\.a in body should be at most 3 chars long/,
  ],
  [
    'and in the other it is fine',
    ['PATCH', `${place('v2')}/x`, { metadata: { labels: { a: 'b' } } }],
    200,
    { b: 'abcde!' },
  ],
  [
    'a status in the version of the request',
    ['PATCH', `${place('v2')}/x/status`, { status: { ready: 9 } }],
    422,
    /status\.ready in body should be less than or equal to 5/,
  ],
  [
    'a dry run is converted there and back',
    ['POST', `${place('v2')}?dryRun=All`, cog('v2', { name: 'y' }, { b: 'abc' })],
    201,
    { b: 'abc!' },
  ],
  [
    'an object that only its own version can read',
    ['POST', place('v1'), cog('v1', { name: 'z', annotations: refused }, { a: 'abc' })],
    201,
    { a: 'abc', defaultv1: 1 },
  ],
  ['cannot be read', ['GET', `${place('v2')}/z`], 500, failed],
  ['nor listed', ['GET', place('v2')], 500, failed],
  ['nor patched', ['PATCH', `${place('v2')}/z`, { spec: { b: 'q' } }], 500, failed],
  ['nor deleted', ['DELETE', `${place('v2')}/z`], 500, failed],
  ['nor deleted with others', ['DELETE', place('v2')], 500, failed],
  ['which stay', ['GET', `${place('v2')}/x`], 200, { b: 'abcde!' }],
  [
    'its name is taken',
    ['POST', place('v2'), cog('v2', { name: 'z' }, { b: 'q' })],
    409,
    'cogs.turns.example.com "z" already exists',
  ],
  [
    'though a dry run does not see it',
    ['POST', `${place('v2')}?dryRun=All`, cog('v2', { name: 'z' }, { b: 'q' })],
    201,
    { b: 'q!' },
  ],
  [
    'what is held',
    ['PATCH', `${place('v2')}/x`, { metadata: { finalizers: ['example.com/held'] } }],
    200,
    { b: 'abcde!' },
  ],
  ['stays after its deletion', ['DELETE', `${place('v2')}/x`], 200, { b: 'abcde!' }],
  [
    'released, it is shown in the requested version and not stored',
    ['PATCH', `${place('v2')}/x`, { metadata: { finalizers: null } }],
    200,
    { b: 'abcde!', defaultv2: 1 },
  ],
  ['and is deleted', ['GET', `${place('v2')}/x`], 404, 'cogs.turns.example.com "x" not found'],
]

test('what a webhook converts is written in the version of the request', async (t) => {
  for (const [what, [method, path, body], status, said] of rows) {
    await t.test(what, async () => {
      const answer = await ask(method, path, body)
      assert.equal(answer.status, status, answer.text)
      if (said instanceof RegExp) assert.match(answer.body.message, said)
      else assert.deepEqual(answer.body.spec ?? answer.body.message, said)
    })
  }
})

test('a list is converted in one call, however long it is', async () => {
  for (let i = 0; i < 5; i++)
    await ask('POST', place('v1'), cog('v1', { name: `n${i}` }, { a: 'n' }))
  await ask('DELETE', `${place('v1')}/z`)
  const before = hooks.received.length
  const { body } = await ask('GET', place('v2'))
  assert.equal(body.items.length, 5)
  const calls = hooks.received.slice(before).map(({ review }) => review.request.objects.length)
  assert.deepEqual(calls, [5])
})
