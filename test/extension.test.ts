/**
 * What a control plane is extended by, on a server of its own. There are a definition as large as
 * those of well-known controllers, versions that come and go, names and categories. A definition is
 * deleted with its objects. There are webhooks that know who calls them and leave their notes.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { WebhookServer } from '../src/admission/webhook/webhook-server.suite.ts'
import { type Answer, type RunningServer, startServer } from './running-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: schemas and objects of any shape
type Any = any

let server: RunningServer
let hooks: WebhookServer
const folder = mkdtempSync(join(tmpdir(), 'binnacle-test-'))
const auditLog = join(folder, 'audit.log')
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

before(async () => {
  hooks = await WebhookServer.start()
  const kubeconfig = join(folder, 'kubeconfig')
  const users = [{ name: `127.0.0.1:${hooks.port}`, user: { token: 'of-the-server' } }]
  writeFileSync(kubeconfig, JSON.stringify({ users }))
  const kind = 'WebhookAdmissionConfiguration'
  const apiVersion = 'apiserver.config.k8s.io/v1'
  const plugins = ['ValidatingAdmissionWebhook', 'MutatingAdmissionWebhook'].map((name) => ({
    name,
    configuration: { apiVersion, kind, kubeConfigFile: kubeconfig },
  }))
  const file = join(folder, 'admission.yaml')
  writeFileSync(file, JSON.stringify({ kind: 'AdmissionConfiguration', apiVersion, plugins }))
  const policy = join(folder, 'audit.yaml')
  writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Request }]\n')
  server = await startServer([
    '--controllers=-*',
    `--admission-control-config-file=${file}`,
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${auditLog}`,
  ])
})
after(async () => {
  await Promise.all([server.stop(), hooks.stop()])
  rmSync(folder, { recursive: true })
})

const ask = (method: string, path: string, body?: unknown, type?: string): Promise<Answer> =>
  server.ask(method, path, body, type === undefined ? {} : { 'content-type': type })

/** Polls until the answer is the wanted one: a definition takes effect a moment later. */
async function until(path: string, wanted: (answer: Answer) => boolean): Promise<Answer> {
  for (let i = 0; ; i++) {
    const answer = await ask('GET', path)
    if (wanted(answer)) return answer
    assert.ok(i < 1000, `${path}: ${answer.status} ${answer.text.slice(0, 300)}`)
    await new Promise((done) => setTimeout(done, 50))
  }
}

const definitionOf = (plural: string, versions: Any[]): Any => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind: plural[0].toUpperCase() + plural.slice(1, -1) },
    versions,
  },
})

const place = (version: string, plural: string) =>
  `/apis/example.com/${version}/namespaces/default/${plural}`

async function define(plural: string, versions: Any[]): Promise<void> {
  const made = await ask('POST', definitions, definitionOf(plural, versions))
  assert.equal(made.status, 201, made.text.slice(0, 500))
  await until(place(versions[0].name, plural), ({ status }) => status === 200)
}

const prose =
  'What the field is for, in the many words that controllers like to use for it. '.repeat(4)

/** As wide at every level as the templates of pods that controllers repeat in their schemas. */
function wideSchema(depth: number): Any {
  const text = (more: object) => ({ type: 'string', description: prose, ...more })
  const properties: Any = {
    name: text({ minLength: 1, pattern: '^[a-z0-9-]+$' }),
    policy: text({ enum: ['Always', 'Never'], default: 'Always' }),
    port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    count: { type: 'integer', format: 'int32', minimum: 0, description: prose },
    labels: { type: 'object', additionalProperties: text({}) },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  for (const name of depth === 0 ? [] : ['first', 'second', 'third', 'fourth']) {
    properties[name] = wideSchema(depth - 1)
  }
  if (depth > 0) {
    properties.items = {
      type: 'array',
      items: { ...wideSchema(depth - 1), required: ['name'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }
  }
  return { type: 'object', description: prose, properties }
}

test('a definition of some hundred kilobytes is taken, published and used as a small one is', async () => {
  const openAPIV3Schema = { type: 'object', properties: { spec: wideSchema(3) } }
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }
  assert.ok(JSON.stringify(openAPIV3Schema).length > 300_000)
  await define('giants', [version])
  const stored = await ask('GET', `${definitions}/giants.example.com`)
  assert.deepEqual(stored.body.spec.versions[0].schema.openAPIV3Schema, openAPIV3Schema)
  const leaf = { name: 'a', port: 'http', labels: { ['__proto__x']: 'y' }, free: { any: [1] } }
  const spec = { first: { second: { third: leaf } }, items: [{ name: 'i', first: leaf }] }
  const metadata = { name: 'g' }
  const object = { apiVersion: 'example.com/v1', kind: 'Giant', metadata, spec: { ...spec, no: 1 } }
  const made = await ask('POST', place('v1', 'giants'), object)
  assert.equal(made.status, 201, made.text)
  assert.equal(made.body.spec.no, undefined, 'what the schema does not know is gone')
  assert.equal(made.body.spec.first.second.third.policy, 'Always')
  assert.equal(made.body.spec.items[0].policy, 'Always')
  assert.deepEqual((await ask('GET', `${place('v1', 'giants')}/g`)).body, made.body)
  const wrong = await ask(
    'PATCH',
    `${place('v1', 'giants')}/g`,
    { spec: { first: { second: { third: { name: 'A B', count: -1 } } } } },
    'application/merge-patch+json',
  )
  assert.deepEqual(wrong.body.details.causes.map(({ field }: Any) => field).sort(), [
    'spec.first.second.third.count',
    'spec.first.second.third.name',
  ])
  const applied = await ask(
    'PATCH',
    `${place('v1', 'giants')}/g?fieldManager=m`,
    { ...object, spec: { items: [{ name: 'j' }] } },
    'application/apply-patch+yaml',
  )
  assert.deepEqual(
    applied.body.spec.items.map(({ name }: Any) => name),
    ['i', 'j'],
    'items are told apart by their key',
  )
  const giantOf = ({ text }: Answer) => JSON.parse(text).definitions['com.example.v1.Giant']
  const published = await until('/openapi/v2', (answer) => giantOf(answer) !== undefined)
  const { properties } = giantOf(published)
  assert.equal(properties.spec.properties.first.properties.name.description, prose)
})

const plainVersion = (name: string, more: object = {}): Any => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: { type: 'object' } },
  ...more,
})

test('paths that would be of a custom kind are unknown', async () => {
  await define('settlers', [plainVersion('v1', { storage: true })])
  const nomad = definitionOf('nomads', [plainVersion('v1', { storage: true })])
  nomad.spec.scope = 'Cluster'
  await ask('POST', definitions, nomad)
  const base = '/apis/example.com/v1'
  await until(`${base}/nomads`, ({ status }) => status === 200)
  const rows: [method: string, path: string][] = [
    ['GET', `${base}/nothings`],
    ['GET', `${base}/namespaces/default/nothings/x`],
    ['GET', '/apis/example.com/v9/namespaces/default/settlers'],
    ['GET', `${base}/settlers/x`],
    ['POST', `${base}/settlers`],
    ['DELETE', `${base}/settlers`],
    ['GET', `${base}/namespaces/default/nomads`],
    ['GET', `${base}/namespaces/default/nomads/x`],
  ]
  for (const [method, path] of rows) {
    const { status, text, headers } = await ask(method, path, method === 'POST' ? {} : undefined)
    const said = [status, headers?.['content-type'], text]
    const plain = [404, 'text/plain; charset=utf-8', '404 page not found\n']
    assert.deepEqual(said, plain, `${method} ${path}`)
  }
  const missing = await ask('GET', `${place('v1', 'settlers')}/x`)
  assert.equal(missing.body.message, 'settlers.example.com "x" not found')
})

test('custom kinds have their own messages for unsupported methods and invalid bodies', async () => {
  const subresources = { status: {} }
  await define('walkers', [plainVersion('v1', { storage: true, subresources })])
  const base = place('v1', 'walkers')
  const walker = { apiVersion: 'example.com/v1', kind: 'Walker', metadata: { name: 'w' } }
  const made = await ask('POST', `${base}/whatever`, walker)
  assert.deepEqual([made.status, made.body.metadata?.name], [201, 'w'], 'any path takes new ones')
  assert.equal((await ask('GET', `${base}/w/status/more`)).body.kind, 'Walker')
  const unsupported = (verb: string) =>
    `${verb} is not supported on resources of kind "walkers.example.com"`
  const unread = (body: string) =>
    `Walker in version "v1" cannot be handled as a Walker: unmarshalerDecoder: Object 'Kind' is missing in '${body}', error found in #${body.length} byte of ...|${body}|..., bigger context ...|${body}|...`
  const rows: [
    method: string,
    path: string,
    body: object | undefined,
    code: number,
    said: string,
  ][] = [
    ['PUT', base, walker, 400, 'name must be provided'],
    ['PATCH', base, {}, 400, 'name must be provided'],
    ['POST', `${base}/w/status`, walker, 405, unsupported('create')],
    ['DELETE', `${base}/w/status`, undefined, 405, unsupported('delete')],
    ['OPTIONS', base, undefined, 405, unsupported('')],
    ['POST', base, {}, 400, unread('{}')],
    ['POST', base, { a: 1 }, 400, unread('{"a":1}')],
  ]
  for (const [method, path, body, code, said] of rows) {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : undefined
    const answer = await ask(method, path, body, type)
    assert.deepEqual([answer.status, answer.body.message], [code, said], `${method} ${path}`)
  }
})

test('a replacement of another kind is found out after its name and its version', async () => {
  await define('callers', [plainVersion('v1', { storage: true, subresources: { status: {} } })])
  const base = place('v1', 'callers')
  const caller = { apiVersion: 'example.com/v1', kind: 'Caller', metadata: { name: 'c' } }
  const { resourceVersion } = (await ask('POST', base, caller)).body.metadata
  const named = (version?: string) => ({ name: 'c', resourceVersion: version })
  const modified =
    'Operation cannot be fulfilled on callers.example.com "c": the object has been modified; please apply your changes to the latest version and try again'
  const missing = 'metadata.resourceVersion: Invalid value: 0x0: must be specified for an update'
  const unversioned =
    "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'"
  const rows: [path: string, over: Any, code: number, said: string | undefined][] = [
    ['/d', { kind: 'X' }, 400, 'the name of the object (c) does not match the name on the URL (d)'],
    ['/c', { kind: 'X' }, 422, `callers.example.com "c" is invalid: ${missing}`],
    ['/c', { kind: 'X', metadata: named('1') }, 409, modified],
    [
      '/c',
      { kind: 'X', metadata: named(resourceVersion) },
      422,
      'X.example.com "c" is invalid: kind: Invalid value: "X": must be Caller',
    ],
    ['/c/status', { kind: 'X', metadata: named(resourceVersion) }, 200, undefined],
    ['/c', { apiVersion: '', metadata: named('1') }, 409, modified],
    ['/c', { apiVersion: '', metadata: named(resourceVersion) }, 500, unversioned],
    ['/c/status', { apiVersion: undefined, metadata: named(resourceVersion) }, 500, unversioned],
  ]
  for (const [path, over, code, said] of rows) {
    const answer = await ask('PUT', `${base}${path}?dryRun=All`, { ...caller, ...over })
    assert.deepEqual([answer.status, answer.body.message], [code, said], JSON.stringify(over))
  }
})

test('a deprecated version warns, in words of its own or in those of all', async () => {
  await define('elders', [
    plainVersion('v1', { storage: true }),
    plainVersion('v1beta1', { deprecated: true }),
    plainVersion('v1alpha1', { deprecated: true, deprecationWarning: 'use something younger' }),
  ])
  const rows: [version: string, warning: string | undefined][] = [
    ['v1', undefined],
    ['v1beta1', '299 - "example.com/v1beta1 Elder is deprecated; use example.com/v1 Elder"'],
    ['v1alpha1', '299 - "use something younger"'],
  ]
  for (const [version, warning] of rows) {
    const { headers } = await ask('GET', place(version, 'elders'))
    assert.equal(headers?.warning, warning, version)
  }
})

test('a version can be removed once storedVersions does not list it', async () => {
  await define('movers', [plainVersion('v1', { storage: true }), plainVersion('v2')])
  const path = `${definitions}/movers.example.com`
  const merge = (at: string, body: object) => ask('PATCH', at, body, 'application/merge-patch+json')
  const versions = [plainVersion('v1'), plainVersion('v2', { storage: true })]
  const moved = await merge(path, { spec: { versions } })
  assert.deepEqual(moved.body.status.storedVersions, ['v1', 'v2'])
  const only = { spec: { versions: versions.slice(1) } }
  const refused = await merge(path, only)
  assert.equal(refused.status, 422)
  assert.match(refused.body.message, /status\.storedVersions\[0\].*must appear in spec\.versions$/)
  await merge(`${path}/status`, { status: { storedVersions: ['v2'] } })
  const gone = await merge(path, only)
  assert.deepEqual(gone.body.status.storedVersions, ['v2'])
  await until(place('v1', 'movers'), ({ status }) => status === 404)
})

test('a definition leaves after its objects', async () => {
  await define('leavers', [plainVersion('v1', { storage: true })])
  const metadata = { name: 'held', finalizers: ['example.com/held'] }
  const object = { apiVersion: 'example.com/v1', kind: 'Leaver', metadata }
  assert.equal((await ask('POST', place('v1', 'leavers'), object)).status, 201)
  const path = `${definitions}/leavers.example.com`
  const first = await ask('DELETE', path)
  assert.deepEqual(first.body.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io'])
  const terminating = ({ body }: Answer) =>
    body.status?.conditions?.find(({ type }: Any) => type === 'Terminating')
  assert.equal(terminating(first).reason, 'InstanceDeletionPending')
  const begun = await until(
    path,
    (one) => terminating(one)?.reason === 'InstanceDeletionInProgress',
  )
  assert.equal(terminating(begun).message, 'CustomResource deletion is in progress')
  assert.equal((await ask('POST', place('v1', 'leavers'), { ...object, metadata: {} })).status, 405)
  const held = `${place('v1', 'leavers')}/held`
  await until(held, ({ body }) => body.metadata?.deletionTimestamp !== undefined)
  await ask('PATCH', held, { metadata: { finalizers: null } }, 'application/merge-patch+json')
  await until(path, ({ status }) => status === 404)
  await until(place('v1', 'leavers'), ({ status }) => status === 404)
})

test('a definition leaves with its objects, though no version of it is served', async () => {
  const served = plainVersion('v1', { storage: true })
  await define('hiders', [served])
  const object = { apiVersion: 'example.com/v1', kind: 'Hider', metadata: { name: 'hidden' } }
  assert.equal((await ask('POST', place('v1', 'hiders'), object)).status, 201)
  const path = `${definitions}/hiders.example.com`
  const versions = [{ ...served, served: false }]
  await ask('PATCH', path, { spec: { versions } }, 'application/merge-patch+json')
  await until(place('v1', 'hiders'), ({ status }) => status === 404)
  await ask('DELETE', path)
  await until(path, ({ status }) => status === 404)
  await define('hiders', [served])
  assert.deepEqual((await ask('GET', place('v1', 'hiders'))).body.items, [])
})

/** A webhook at a path of the one server there is; the answer is what the path says. */
const webhookFor = (path: string, operation: string, plural: string): Any => ({
  name: `${path}.example.com`,
  clientConfig: {
    url: `https://127.0.0.1:${hooks.port}/${path}`,
    caBundle: Buffer.from(hooks.ca.pem).toString('base64'),
  },
  rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: [operation], resources: [plural] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
})
const configurations = (type: 'validating' | 'mutating') =>
  `/apis/admissionregistration.k8s.io/v1/${type}webhookconfigurations`

test('a definition leaves with its objects, whatever webhooks say of them', async () => {
  await define('loathers', [plainVersion('v1', { storage: true })])
  const object = { apiVersion: 'example.com/v1', kind: 'Loather', metadata: { name: 'one' } }
  assert.equal((await ask('POST', place('v1', 'loathers'), object)).status, 201)
  hooks.paths.set('/no', () => ({ allowed: false }))
  const path = configurations('validating')
  const webhooks = [webhookFor('no', 'DELETE', 'loathers')]
  await ask('POST', path, { metadata: { name: 'no' }, webhooks })
  const refused = () => ask('DELETE', `${place('v1', 'loathers')}/one?dryRun=All`)
  for (let i = 0; (await refused()).status === 200; i++) assert.ok(i < 200, 'the webhook is asked')
  await ask('DELETE', `${definitions}/loathers.example.com`)
  await until(`${definitions}/loathers.example.com`, ({ status }) => status === 404)
  await ask('DELETE', `${path}/no`)
})

test('what a webhook converts has its owners in every version, and is what the webhook says now', async () => {
  const convert = (change: (object: Any) => Any) =>
    hooks.paths.set('/convert', ({ uid, objects, desiredAPIVersion }) =>
      JSON.stringify({
        kind: 'ConversionReview',
        apiVersion: 'apiextensions.k8s.io/v1',
        response: {
          uid,
          result: { status: 'Success' },
          convertedObjects: objects.map((one: Any) =>
            change({ ...one, apiVersion: desiredAPIVersion }),
          ),
        },
      }),
    )
  convert((one) => one)
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  const body = definitionOf('turners', [
    plainVersion('v1', { storage: true, schema }),
    plainVersion('v2', { schema }),
  ])
  const url = `https://127.0.0.1:${hooks.port}/convert`
  const clientConfig = { url, caBundle: hooks.caBundle }
  body.spec.conversion = {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig },
  }
  assert.equal((await ask('POST', definitions, body)).status, 201)
  await until(place('v2', 'turners'), ({ status }) => status === 200)
  const turner = (version: string, spec: Any): Any => ({
    apiVersion: `example.com/${version}`,
    kind: 'Turner',
    metadata: { name: 't' },
    spec,
  })
  const made = await ask(
    'POST',
    `${place('v1', 'turners')}?fieldManager=one`,
    turner('v1', { a: 1 }),
  )
  assert.equal(made.status, 201, made.text)
  const path = `${place('v2', 'turners')}/t`
  const patched = await ask(
    'PATCH',
    `${path}?fieldManager=two`,
    { spec: { b: 2 } },
    'application/merge-patch+json',
  )
  const owners = (answer: Answer) =>
    answer.body.metadata.managedFields.map(({ manager, apiVersion, fieldsV1 }: Any) => [
      manager,
      apiVersion,
      fieldsV1['f:spec'],
    ])
  assert.deepEqual(owners(patched), [
    ['one', 'example.com/v1', { '.': {}, 'f:a': {} }],
    ['two', 'example.com/v2', { 'f:b': {} }],
  ])
  const apply = (force: boolean) =>
    ask(
      'PATCH',
      `${path}?fieldManager=three&force=${force}`,
      turner('v2', { a: 3 }),
      'application/apply-patch+yaml',
    )
  const refused = await apply(false)
  assert.equal(refused.status, 409)
  assert.match(refused.body.message, /conflict with "one".* using example\.com\/v1: \.spec\.a/)
  assert.deepEqual(owners(await apply(true)), [
    ['three', 'example.com/v2', { '.': {}, 'f:a': {} }],
    ['one', 'example.com/v1', {}],
    ['two', 'example.com/v2', { 'f:b': {} }],
  ])
  convert((one) => ({ ...one, spec: { seen: 'now' } }))
  assert.deepEqual((await ask('GET', path)).body.spec, { seen: 'now' })
  const listed = () => ask('GET', place('v2', 'turners'))
  assert.deepEqual((await listed()).body.items[0].spec, { seen: 'now' })
  convert((one) => ({ ...one, kind: 'Burner' }))
  const words =
    'conversion webhook for example.com/v1, Kind=Turner returned invalid object at index 0: invalid kind (expected Turner, received Burner)'
  const wrong = { code: 500, status: 'Failure', message: words }
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {} }
  for (const method of ['GET', 'DELETE']) {
    assert.deepEqual((await ask(method, path)).body, { ...head, ...wrong }, method)
  }
  assert.equal((await ask('PUT', path, turner('v2', {}))).body.message, words)
  assert.equal((await listed()).body.message, words)
  assert.equal((await ask('GET', `${place('v1', 'turners')}/t`)).status, 200)
  await ask('DELETE', `${definitions}/turners.example.com`)
  await until(`${definitions}/turners.example.com`, ({ status }) => status === 404)
})

test('a kind is served by all of its names', async () => {
  const body = definitionOf('namers', [plainVersion('v1', { storage: true })])
  Object.assign(body.spec.names, { shortNames: ['nm', 'nmr'], categories: ['all', 'tools'] })
  assert.equal((await ask('POST', definitions, body)).status, 201)
  await until(place('v1', 'namers'), ({ status }) => status === 200)
  const { body: list } = await ask('GET', '/apis/example.com/v1')
  const { storageVersionHash: _, ...shown } = list.resources.find(
    ({ name }: Any) => name === 'namers',
  )
  assert.deepEqual(shown, {
    name: 'namers',
    singularName: 'namer',
    namespaced: true,
    kind: 'Namer',
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    shortNames: ['nm', 'nmr'],
    categories: ['all', 'tools'],
  })
})

test('what webhooks note of a request is in its record', async () => {
  const patch = Buffer.from('[{"op":"add","path":"/data","value":{"a":"b"}}]').toString('base64')
  hooks.paths.set('/notes', () => ({ allowed: true, auditAnnotations: { why: 'so' } }))
  hooks.paths.set('/patches', () => ({ allowed: true, patchType: 'JSONPatch', patch }))
  const rows = [
    ['validating', 'notes'],
    ['mutating', 'patches'],
  ] as const
  for (const [type, path] of rows) {
    const webhooks = [webhookFor(path, 'CREATE', 'configmaps')]
    await ask('POST', configurations(type), { metadata: { name: path }, webhooks })
  }
  const maps = '/api/v1/namespaces/default/configmaps'
  const make = async (i: number) =>
    (await ask('POST', maps, { metadata: { name: `noted${i}` } })).body
  let i = 0
  while ((await make(i)).data === undefined) assert.ok(i++ < 200, 'the webhook is asked')
  await make(++i)
  const record = () =>
    readFileSync(auditLog, 'utf8')
      .split('\n')
      .filter((line) => line.includes(`"noted${i}"`) && line.includes('"ResponseComplete"'))
      .at(-1)
  for (let n = 0; record() === undefined && n < 1000; n++)
    await new Promise((done) => setTimeout(done, 50))
  const { annotations } = JSON.parse(record() ?? '{}')
  assert.equal(annotations['notes.example.com/why'], 'so')
  const round = 'webhook.admission.k8s.io/round_0_index_0'
  const named = { configuration: 'patches', webhook: 'patches.example.com' }
  const mutation = JSON.parse(annotations[`mutation.${round}`])
  assert.deepEqual(mutation, { ...named, mutated: true })
  const patched = JSON.parse(annotations[`patch.${round}`])
  assert.deepEqual(patched, {
    ...named,
    patch: [{ op: 'add', path: '/data', value: { a: 'b' } }],
    patchType: 'JSONPatch',
  })
  for (const [type, path] of rows) await ask('DELETE', `${configurations(type)}/${path}`)
})

test('webhooks get the credentials that the configuration of admission has for them', async () => {
  const webhook = webhookFor('v', 'CREATE', 'secrets')
  const path = configurations('validating')
  const made = await ask('POST', path, { metadata: { name: 'v' }, webhooks: [webhook] })
  assert.equal(made.status, 201, made.text)
  assert.equal(made.body.webhooks[0].timeoutSeconds, 10)
  const secrets = '/api/v1/namespaces/default/secrets'
  const received = () => hooks.received.find((one) => one.path === '/v')
  for (let i = 0; received() === undefined && i < 100; i++) {
    await ask('POST', secrets, { metadata: { name: `s${i}` } })
  }
  assert.equal(received()?.headers.authorization, 'Bearer of-the-server')
  assert.equal((await ask('DELETE', `${path}/v`)).status, 200)
})
