/**
 * Scales of custom kinds on a server of its own. They are in versions that a webhook converts,
 * whose replicas are elsewhere in each, with plugins that look at them. Rows show which errors they
 * give.
 */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { WebhookServer } from '../src/admission/webhook/webhook-server.suite.ts'
import { type Answer, type RunningServer, startServer } from './running-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: schemas and objects of any shape
type Any = any

let server: RunningServer
let hooks: WebhookServer
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const group = 'scales.example.com'
const place = (version: string, plural: string) =>
  `/apis/${group}/${version}/namespaces/default/${plural}`
const ask = (method: string, path: string, body?: unknown, type = 'application/json') =>
  server.ask(method, path, body, { 'content-type': type })
const merge = 'application/merge-patch+json'
const apply = 'application/apply-patch+yaml'

const version = (name: string, want: string, have: string, storage = false): Any => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  subresources: { status: {}, scale: { specReplicasPath: want, statusReplicasPath: have } },
})

async function define(plural: string, kind: string, more: Any): Promise<void> {
  const names = { plural, kind }
  const spec = { group, scope: 'Namespaced', names, ...more }
  const made = await ask('POST', definitions, { metadata: { name: `${plural}.${group}` }, spec })
  assert.equal(made.status, 201, made.text)
  for (let i = 0; (await ask('GET', place('v1', plural))).status !== 200; i++) {
    assert.ok(i < 2000)
    await new Promise((done) => setTimeout(done, 20))
  }
}

/** Replicas are `spec.want` in the first version and `spec.size.want` in the second. */
function converted(object: Any, apiVersion: string): Any {
  const { size, want = size?.want, ...spec } = object.spec
  const placed = apiVersion.endsWith('v2') ? { size: { want } } : { want }
  return { ...object, apiVersion, spec: { ...spec, ...placed } }
}

before(async () => {
  hooks = await WebhookServer.start()
  hooks.paths.set('/convert', ({ uid, objects, desiredAPIVersion }) =>
    JSON.stringify({
      kind: 'ConversionReview',
      apiVersion: 'apiextensions.k8s.io/v1',
      response: {
        uid,
        result: { status: 'Success' },
        convertedObjects: objects.map((one: Any) => converted(one, desiredAPIVersion)),
      },
    }),
  )
  server = await startServer(['--controllers=-*'])
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: hooks.at('/convert') }
  await define('movers', 'Mover', {
    versions: [
      version('v1', '.spec.want', '.status.have', true),
      version('v2', '.spec.size.want', '.status.have'),
    ],
    conversion: { strategy: 'Webhook', webhook },
  })
  await define('plains', 'Plain', {
    versions: [version('v1', '.spec.replicas', '.status.have', true)],
  })
})
after(() => Promise.all([server.stop(), hooks.stop()]))

const object = (kind: string, name: string, spec: Any): Any => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name },
  spec,
})
const scale = (name: string, replicas: Any): Any => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name, namespace: 'default' },
  spec: { replicas },
})

test('a Scale has the requested version, if a webhook converts', async () => {
  await ask('POST', place('v1', 'movers'), object('Mover', 'm', { want: 3, other: 1 }))
  const at = (name: string) => `${place(name, 'movers')}/m`
  const told = async (answer: Answer) => [
    answer.body.spec.replicas,
    (await ask('GET', at('v1'))).body.spec,
    (await ask('GET', at('v2'))).body.spec,
  ]
  const now = (want: number) => [want, { other: 1, want }, { other: 1, size: { want } }]
  for (const [i, name] of ['v1', 'v2'].entries()) {
    const path = `${at(name)}/scale`
    assert.deepEqual(await told(await ask('PUT', path, scale('m', 4 + i))), now(4 + i))
    const patched = await ask('PATCH', path, { spec: { replicas: 7 + i } }, merge)
    assert.deepEqual(await told(patched), now(7 + i))
    assert.deepEqual(await told(await ask('GET', path)), now(7 + i))
  }
})

test('a webhook that converts a new object gets its name and namespace', async () => {
  const body = { ...object('Mover', 'placed', { size: { want: 2 } }), apiVersion: `${group}/v2` }
  const made = await ask('POST', place('v2', 'movers'), body)
  assert.equal(made.status, 201, made.text)
  const sent = hooks.received.flatMap(({ path, review }) =>
    path === '/convert' ? review.request.objects : [],
  )
  const places = sent
    .filter(({ metadata }: Any) => metadata.name === 'placed')
    .map(({ metadata }: Any) => metadata.namespace)
  assert.deepEqual([...new Set(places)], ['default'])
})

test('a user who changes a Scale sees it in the requested version', async () => {
  await ask('POST', place('v1', 'movers'), object('Mover', 'seen', { want: 1 }))
  const seen: Any[] = []
  hooks.paths.set('/more', ({ object: next, oldObject }) => {
    seen.push([oldObject.spec.replicas, next.spec.replicas])
    const patch = JSON.stringify([{ op: 'replace', path: '/spec/replicas', value: 9 }])
    const allowed = { allowed: true, patchType: 'JSONPatch' }
    return { ...allowed, patch: Buffer.from(patch).toString('base64') }
  })
  hooks.paths.set('/look', ({ object: next, oldObject }) => {
    seen.push([oldObject.spec.replicas, next.spec.replicas])
    return { allowed: true }
  })
  const hook = (path: string) => ({
    name: 'h.example.com',
    clientConfig: hooks.at(path),
    rules: [
      {
        apiGroups: [group],
        apiVersions: ['*'],
        operations: ['UPDATE'],
        resources: ['movers/scale'],
      },
    ],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  })
  const registered = '/apis/admissionregistration.k8s.io/v1'
  const kinds = { mutating: '/more', validating: '/look' }
  const paths = Object.keys(kinds).map((kind) => `${registered}/${kind}webhookconfigurations`)
  for (const [i, at] of Object.values(kinds).entries()) {
    const made = await ask('POST', paths[i], { metadata: { name: 's' }, webhooks: [hook(at)] })
    assert.equal(made.status, 201, made.text)
  }
  const path = `${place('v2', 'movers')}/seen/scale`
  let put = await ask('PUT', path, scale('seen', 5))
  for (let i = 0; i < 2000 && put.body.spec.replicas !== 9; i++) {
    await new Promise((done) => setTimeout(done, 20))
    put = await ask('PUT', path, scale('seen', 5))
  }
  assert.equal(put.body.spec.replicas, 9, put.text)
  assert.deepEqual((await ask('GET', `${place('v1', 'movers')}/seen`)).body.spec, { want: 9 })
  const [old] = seen.at(-1)
  assert.deepEqual(seen.slice(-2), [
    [old, 5],
    [old, 9],
  ])
  for (const one of paths) await ask('DELETE', `${one}/s`)
})

const unknown = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:100"'
const bodies: [what: string, body: unknown][] = [
  ['another kind', object('Plain', 'p', {})],
  ['another version', { ...scale('p', 1), apiVersion: 'extensions/v1beta1' }],
  ['replicas that are not a number', scale('p', 'x')],
  ['no object', []],
]
test('a Scale shows what its version shows of the object, and writes no more', async () => {
  const closed = { type: 'object', properties: { c: { type: 'string' } } }
  const second = version('v2', '.spec.a', '.status.have')
  second.schema.openAPIV3Schema = { type: 'object', properties: { spec: closed } }
  await define('partials', 'Partial', {
    versions: [version('v1', '.spec.b', '.status.have', true), second],
  })
  const at = (name: string) => `${place(name, 'partials')}/p`
  await ask('POST', place('v1', 'partials'), object('Partial', 'p', { a: 2, b: 1, c: 'x' }))
  const missing = (path: string) =>
    `Internal error occurred: the spec replicas field "${path}" does not exist`
  const scaled = (replicas: number) => ({ spec: { replicas } })
  for (const [what, [method, path, body], said] of [
    ['in its place', ['GET', `${at('v1')}/scale`], { replicas: 1 }],
    ['unknown to its version', ['GET', `${at('v2')}/scale`], missing('.spec.a')],
    ['written where it is unknown', ['PATCH', `${at('v2')}/scale`, scaled(3)], {}],
    ['unknown as before', ['GET', `${at('v2')}/scale`], missing('.spec.a')],
    ['stored, with what the version knows', ['GET', at('v1')], { a: 3, c: 'x' }],
    ['removed by the write in the other version', ['GET', `${at('v1')}/scale`], missing('.spec.b')],
    ['written anew', ['PATCH', `${at('v1')}/scale`, scaled(5)], { replicas: 5 }],
    ['and stored', ['GET', at('v1')], { a: 3, b: 5, c: 'x' }],
  ] as [string, [string, string, Any?], Any][]) {
    const answer = await ask(method, path, body, merge)
    assert.deepEqual(answer.body.spec ?? answer.body.message, said, what)
  }
})

test('a Scale that cannot be read has one message', async () => {
  await ask('POST', place('v1', 'plains'), object('Plain', 'p', { replicas: 1 }))
  for (const [what, body] of bodies) {
    const { status, body: told } = await ask('PUT', `${place('v1', 'plains')}/p/scale`, body)
    assert.deepEqual([status, told.reason, told.message], [400, 'BadRequest', unknown], what)
  }
})

test('an apply of a Scale owns no replicas of a custom kind', async () => {
  const path = `${place('v1', 'plains')}/o`
  const applied = () => ask('PATCH', `${path}/scale?fieldManager=m`, scale('o', 4), apply)
  assert.equal((await applied()).status, 404)
  const unread = await ask('PATCH', `${path}/scale?fieldManager=m`, '{', apply)
  assert.equal(unread.status, 404, 'what is not there is missed before anything is read')
  await ask(
    'POST',
    `${place('v1', 'plains')}?fieldManager=a`,
    object('Plain', 'o', { replicas: 1 }),
  )
  const said = async () => {
    const { status, body } = await applied()
    return [status, body.message]
  }
  assert.deepEqual(await said(), [
    500,
    'failed to create typed patch object: no corresponding type for autoscaling/v1, Kind=Scale',
  ])
  const expected = 'Specified patch version: scales.example.com/v1, expected: autoscaling/v1'
  const wrong: [config: Any, message: string][] = [
    [object('Plain', 'o', {}), `Incorrect version specified in apply patch. ${expected}`],
    [
      { ...scale('o', 4), metadata: { name: 'o', managedFields: [] } },
      'metadata.managedFields must be nil',
    ],
  ]
  for (const [config, message] of wrong) {
    const { status, body } = await ask('PATCH', `${path}/scale?fieldManager=m`, config, apply)
    assert.deepEqual([status, body.message], [400, message])
  }
  await ask('PATCH', path, { metadata: { managedFields: [{}] } }, merge)
  assert.deepEqual(await said(), [
    500,
    'failed to create manager for existing fields: failed to convert live object to proper version: request to convert CR to an invalid group/version: autoscaling/v1',
  ])
})

test("an unknown field at the path of the requested version's replicas is ignored", async () => {
  const known = {
    type: 'object',
    properties: { spec: { type: 'object' }, status: { type: 'object' } },
  }
  const first = {
    ...version('v1', '.spec.want', '.status.have'),
    schema: { openAPIV3Schema: known },
  }
  const second = { ...version('v2', '.spec.want', '.status.have', true), subresources: undefined }
  await define('strangers', 'Stranger', { versions: [first, second] })
  const made = { apiVersion: `${group}/v2`, kind: 'Stranger', metadata: { name: 'a' }, spec: {} }
  const stored = await ask('POST', place('v2', 'strangers'), { ...made, status: { have: [] } })
  assert.equal(stored.status, 201, stored.text)
  const scale = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'a', namespace: 'default' },
    spec: { replicas: 1 },
  }
  const scaled = await ask('PUT', `${place('v1', 'strangers')}/a/scale`, scale)
  assert.equal(scaled.status, 200, scaled.text)
  assert.deepEqual([scaled.body.spec, scaled.body.status], [{}, { replicas: 0 }])
  const { body } = await ask('GET', `${place('v2', 'strangers')}/a`)
  assert.deepEqual([body.spec, body.status], [{ want: 1 }, {}])
})
