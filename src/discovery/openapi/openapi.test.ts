import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { WireReader, wireBytes } from '#base/wire.ts'
import { orderedGroups, priorities } from '#discovery/group-order.ts'
import { facts, kindsOfRelease } from '#discovery/kinds-of-facts.suite.ts'
import type { Kind } from '#kinds/kind.ts'
import { documentV2 } from './document-v2.suite.ts'
import { groupVersionKinds } from './definitions.ts'
import { type ContentV3, documentsV3, documentV3 } from './document-v3.ts'
import { encodeDocumentV2 } from './protobuf-v2.ts'
import { OpenApiPublisher, type Published } from './publisher.ts'
import { form2 } from './schema-form.ts'
import type { JsonObject, OpenApiSource } from './source.ts'
import { structSchema } from './type-schema.ts'

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into by path
type Any = any

const widgetSchema: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size', 'maybe'],
      properties: {
        size: { type: 'integer', minimum: 1, default: 1 },
        maybe: { type: 'string', nullable: true },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        either: {
          anyOf: [{ type: 'integer' }, { type: 'string' }],
          'x-kubernetes-int-or-string': true,
        },
        inner: { type: 'object', 'x-kubernetes-embedded-resource': true },
      },
    },
  },
}

const widget = {
  group: 'shop.example.com',
  version: 'v1',
  apiVersion: 'shop.example.com/v1',
  kind: 'Widget',
  listKind: 'WidgetList',
  plural: 'widgets',
  namespaced: true,
  origin: 'custom',
  formats: new Set(['json', 'yaml']),
  decoding: 'free',
  verbs: new Set([
    'delete',
    'deletecollection',
    'get',
    'list',
    'patch',
    'create',
    'update',
    'watch',
  ]),
  subresources: new Map([
    [
      'scale',
      {
        name: 'scale',
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        verbs: new Set(['get', 'patch', 'update']),
      },
    ],
  ]),
} as unknown as Kind

function sourceOf(release: number, custom: Kind[] = [], schema?: JsonObject): OpenApiSource {
  const kinds = [...kindsOfRelease(release), ...custom]
  const groups = orderedGroups(kinds, priorities(facts, release))
  return { facts, release, kinds, groups, applies: release > 15, schemaOf: () => schema }
}

const document22 = documentV2(sourceOf(22, [widget], widgetSchema)) as Any

test('every reference of the document has its definition', () => {
  for (const release of [15, 18, 22]) {
    const document = release === 22 ? document22 : (documentV2(sourceOf(release)) as Any)
    const text = JSON.stringify(document)
    for (const [, name] of text.matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)) {
      assert.ok(Object.hasOwn(document.definitions, name), `1.${release} ${name}`)
    }
  }
})

// path, method, operation id, action, kind
const operations: [string, string, string, string, string][] = [
  ['/api/v1/namespaces/{namespace}/pods', 'get', 'listCoreV1NamespacedPod', 'list', 'Pod'],
  ['/api/v1/pods', 'get', 'listCoreV1PodForAllNamespaces', 'list', 'Pod'],
  [
    '/api/v1/namespaces/{namespace}/pods',
    'delete',
    'deleteCoreV1CollectionNamespacedPod',
    'deletecollection',
    'Pod',
  ],
  [
    '/api/v1/namespaces/{namespace}/pods/{name}/eviction',
    'post',
    'createCoreV1NamespacedPodEviction',
    'post',
    'Eviction',
  ],
  [
    '/api/v1/namespaces/{namespace}/pods/{name}/exec',
    'get',
    'connectCoreV1GetNamespacedPodExec',
    'connect',
    'PodExecOptions',
  ],
  [
    '/api/v1/nodes/{name}/proxy/{path}',
    'head',
    'connectCoreV1HeadNodeProxyWithPath',
    'connect',
    'NodeProxyOptions',
  ],
  [
    '/api/v1/watch/namespaces/{namespace}/pods/{name}',
    'get',
    'watchCoreV1NamespacedPod',
    'watch',
    'Pod',
  ],
  [
    '/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale',
    'put',
    'replaceAppsV1NamespacedDeploymentScale',
    'put',
    'Scale',
  ],
  [
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}',
    'patch',
    'patchRbacAuthorizationV1ClusterRole',
    'patch',
    'ClusterRole',
  ],
  [
    '/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}',
    'get',
    'readShopExampleComV1NamespacedWidget',
    'get',
    'Widget',
  ],
  [
    '/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}/scale',
    'get',
    'readShopExampleComV1NamespacedWidgetScale',
    'get',
    'Widget',
  ],
]
for (const [path, method, id, action, kind] of operations) {
  test(`${method} ${path} is ${id}`, () => {
    const operation = document22.paths[path][method]
    assert.equal(operation.operationId, id)
    assert.equal(operation['x-kubernetes-action'], action)
    assert.equal(operation['x-kubernetes-group-version-kind'].kind, kind)
  })
}

test('operation ids are unique', () => {
  const ids = [...JSON.stringify(document22.paths).matchAll(/"operationId":"([^"]+)"/g)]
  assert.equal(new Set(ids.map(([, id]) => id)).size, ids.length)
})

test('parameters that all methods share appear once, sorted by name', () => {
  const item = document22.paths['/api/v1/namespaces/{namespace}/pods/{name}']
  const names = (parameters: Any[]) => parameters.map(({ name }) => name)
  assert.deepEqual(names(item.parameters), ['name', 'namespace', 'pretty'])
  assert.deepEqual(names(item.patch.parameters), ['body', 'dryRun', 'fieldManager', 'force'])
  const alone = document22.paths['/api/v1/pods']
  assert.equal(alone.get.parameters, undefined)
  assert.ok(names(alone.parameters).includes('labelSelector'))
})

test('definitions have the extensions for patch and apply', () => {
  const { definitions } = document22
  const { volumes } = definitions['io.k8s.api.core.v1.PodSpec'].properties
  assert.equal(volumes['x-kubernetes-patch-strategy'], 'merge,retainKeys')
  assert.equal(volumes['x-kubernetes-patch-merge-key'], 'name')
  const { ports } = definitions['io.k8s.api.core.v1.Container'].properties
  assert.equal(ports['x-kubernetes-list-type'], 'map')
  assert.deepEqual(ports['x-kubernetes-list-map-keys'], ['containerPort', 'protocol'])
  // In front of something that is no list, it is repeated all the same.
  const { key } =
    definitions['io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement'].properties
  assert.equal(key['x-kubernetes-patch-merge-key'], 'key')
  const { request } =
    definitions['io.k8s.api.certificates.v1.CertificateSigningRequestSpec'].properties
  assert.deepEqual([request.format, request['x-kubernetes-list-type']], ['byte', 'atomic'])
  const selector = definitions['io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector']
  assert.equal(selector['x-kubernetes-map-type'], 'atomic')
  const pod = definitions['io.k8s.api.core.v1.Pod']
  assert.deepEqual(pod['x-kubernetes-group-version-kind'], [
    { group: '', kind: 'Pod', version: 'v1' },
  ])
  assert.match(pod.description, /containers/)
  assert.deepEqual(definitions['io.k8s.api.core.v1.PodSpec'].required, ['containers'])
})

test('the fields of every object are described', () => {
  const { definitions } = document22
  const { apiVersion, metadata } = definitions['com.example.shop.v1.Widget'].properties
  const meta = definitions['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'].properties
  assert.match(apiVersion.description, /^APIVersion defines /)
  assert.match(metadata.description, /^Standard object's metadata/)
  assert.match(meta.creationTimestamp.description, /^CreationTimestamp is a timestamp/)
})

test('options differ by release', () => {
  const list = (release: number) =>
    (documentV2(sourceOf(release)) as Any).paths['/api/v1/pods'].parameters.map(
      (one: Any) => one.name,
    )
  assert.ok(!list(18).includes('resourceVersionMatch'))
  assert.ok(list(19).includes('resourceVersionMatch'))
})

test('the OpenAPI v2 definition of a custom kind has only keywords that v2 clients support', () => {
  const definition = document22.definitions['com.example.shop.v1.Widget']
  const { spec, metadata } = definition.properties
  assert.equal(metadata.$ref, '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')
  assert.deepEqual(spec.required, ['size'])
  assert.deepEqual(spec.properties.maybe, {})
  assert.deepEqual(spec.properties.size, { type: 'integer', minimum: 1 })
  assert.equal(document22.paths['/apis/shop.example.com/v1/'], undefined)
  assert.deepEqual(spec.properties.free, { 'x-kubernetes-preserve-unknown-fields': true })
  assert.deepEqual(spec.properties.either, { 'x-kubernetes-int-or-string': true })
  assert.deepEqual(spec.properties.inner.required, ['kind', 'apiVersion'])
  const list = document22.definitions['com.example.shop.v1.WidgetList']
  assert.deepEqual(list.required, ['items'])
})

test('patches of custom kinds have the parameter force from 1.27', () => {
  const parameters = (release: number): string[] => {
    const { paths }: Any = documentV2(sourceOf(release, [widget], widgetSchema))
    const { patch } = paths['/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}']
    return patch.parameters.map(({ name }: Any) => name)
  }
  assert.deepEqual(parameters(26), ['body', 'dryRun', 'fieldManager', 'fieldValidation'])
  assert.deepEqual(parameters(27), ['body', 'dryRun', 'fieldManager', 'fieldValidation', 'force'])
})

test('a custom kind whose definition name is in use gets another name', async () => {
  const group = 'apps.api.k8s.io'
  const names = { kind: 'Deployment', listKind: 'DeploymentList', plural: 'deployments' }
  const shadow = { ...widget, group, apiVersion: `${group}/v1`, ...names } as Kind
  const publisher = publisherOf(() => [...kindsOfRelease(22), shadow], { generation: 1 })
  const whole: Any = JSON.parse((await publisher.v2()).bytes.toString())
  assert.deepEqual(documentV2(sourceOf(22, [shadow], widgetSchema)), whole)
  const own = 'io.k8s.api.apps.v1.Deployment'
  assert.deepEqual(whole.definitions[own], document22.definitions[own])
  assert.deepEqual(whole.definitions[`${own}List`], document22.definitions[`${own}List`])
  assert.equal(whole.definitions[`${own}_v2`].properties.spec.properties.size.type, 'integer')
  const { items } = whole.definitions[`${own}List_v2`].properties
  assert.equal(items.items.$ref, `#/definitions/${own}_v2`)
  const { schema } = whole.paths[`/apis/${group}/v1/deployments`].get.responses[200]
  assert.equal(schema.$ref, `#/definitions/${own}List_v2`)
})

test('a custom kind without a schema, or with an open root, lists no properties', () => {
  const open = {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { a: {} },
  }
  for (const schema of [undefined, open]) {
    const document = documentV2(sourceOf(22, [widget], schema)) as Any
    assert.equal(document.definitions['com.example.shop.v1.Widget'].properties, undefined)
  }
})

test('the protobuf document equals the JSON document', () => {
  const reader = new WireReader(encodeDocumentV2(document22))
  const counts = new Map<number, number>()
  while (!reader.done) {
    const tag = reader.tag()
    assert.equal(tag & 7, wireBytes)
    const number = tag >> 3
    if (number === 8 || number === 9) counts.set(number, fieldsIn(reader.bytes()))
    else reader.skip(tag)
  }
  assert.equal(counts.get(8), Object.keys(document22.paths).length)
  assert.equal(counts.get(9), Object.keys(document22.definitions).length)
})

function fieldsIn(bytes: Buffer): number {
  const reader = new WireReader(bytes)
  let count = 0
  for (; !reader.done; count++) reader.skip(reader.tag())
  return count
}

test('protobuf of a small document, byte for byte', () => {
  const bytes = encodeDocumentV2({
    swagger: '2.0',
    info: { title: 'T', version: 'v' },
    definitions: { A: { type: 'string', 'x-kubernetes-list-type': 'set' } },
  })
  const extension = '\x0a\x16x-kubernetes-list-type\x12\x08\x12\x06"set"\n'
  const schema = `\xb2\x01\x08\x0a\x06string\xfa\x01${String.fromCharCode(extension.length)}${extension}`
  const length = (text: string) => String.fromCharCode(text.length)
  const definition = `\x0a\x01A\x12${length(schema)}${schema}`
  const named = `\x0a${length(definition)}${definition}`
  const expected = `\x0a\x032.0\x12\x06\x0a\x01T\x12\x01v\x4a${length(named)}${named}`
  assert.equal(bytes.toString('latin1'), expected)
})

function publisherOf(
  kinds: () => Kind[],
  state: { generation: number },
  schemaOf: (kind: Kind) => JsonObject | undefined = () => widgetSchema,
): OpenApiPublisher {
  return new OpenApiPublisher({
    facts,
    release: 22,
    priorityOf: priorities(facts, 22),
    applies: true,
    servesCbor: false,
    enums: true,
    schemaOf,
    catalog: {
      get generation() {
        return state.generation
      },
      get groupVersions() {
        return kinds()
      },
      kindsOf: (group, version) =>
        kinds().filter((kind) => kind.group === group && kind.version === version),
    },
  })
}

test('OpenAPI v3 has a document per group version with exactly the needed definitions', async () => {
  const publisher = publisherOf(() => [...kindsOfRelease(22), widget], { generation: 1 })
  const index = JSON.parse((await publisher.v3Index()).bytes.toString())
  assert.match(
    index.paths['apis/apps/v1'].serverRelativeURL,
    /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/,
  )
  const apps = JSON.parse(publisher.v3('apis/apps/v1')?.bytes.toString() ?? '')
  assert.equal(apps.openapi, '3.0.0')
  assert.ok(Object.keys(apps.paths).every((path) => path.startsWith('/apis/apps/v1/')))
  const { schemas } = apps.components
  assert.equal(schemas['io.k8s.api.batch.v1.Job'], undefined)
  assert.deepEqual(schemas['io.k8s.api.apps.v1.Deployment'].properties.metadata.allOf, [
    { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
  ])
  for (const [, name] of JSON.stringify(apps).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    assert.ok(Object.hasOwn(schemas, name), name)
  }
  const shop = JSON.parse(publisher.v3('apis/shop.example.com/v1')?.bytes.toString() ?? '')
  const { spec } = shop.components.schemas['com.example.shop.v1.Widget'].properties
  assert.equal(spec.properties.maybe.nullable, true)
  assert.equal(publisher.v3('apis/nobody/v1'), undefined)
})

test('documents are cached until the served kinds change, and hashes show the change', async () => {
  const state = { generation: 1 }
  let kinds = kindsOfRelease(22)
  const publisher = publisherOf(() => kinds, state)
  const before = await publisher.v3Index()
  const apps = publisher.v3Hash('apis/apps/v1')
  assert.equal(await publisher.v3Index(), before)
  kinds = [...kinds, widget]
  state.generation = 2
  assert.notEqual((await publisher.v3Index()).hash, before.hash)
  assert.equal(publisher.v3Hash('apis/apps/v1'), apps)
})

const gear = (i: number): Kind =>
  ({ ...widget, kind: `Gear${i}`, listKind: `Gear${i}List`, plural: `gears${i}` }) as Kind

test('the document from parts equals the document that is generated as a whole', async () => {
  const builtIn = kindsOfRelease(22)
  for (const custom of [[], [widget], [gear(2), widget, gear(10)]]) {
    const publisher = publisherOf(() => [...builtIn, ...custom], { generation: 1 })
    const text = JSON.stringify(documentV2(sourceOf(22, custom, widgetSchema)))
    assert.equal((await publisher.v2()).bytes.toString(), text)
    const encoded = encodeDocumentV2(JSON.parse(text))
    const { bytes } = await publisher.v2Protobuf()
    assert.ok(bytes.equals(encoded), `${custom.length} custom kinds`)
  }
})

test('another kind generates only its own part', async () => {
  const documents: [what: string, make: (publisher: OpenApiPublisher) => unknown][] = [
    ['JSON of the second form', (publisher) => publisher.v2()],
    ['protobuf of the second form', (publisher) => publisher.v2Protobuf()],
    ['index of the third form', (publisher) => publisher.v3Index()],
  ]
  for (const [what, make] of documents) {
    const state = { generation: 1 }
    const requested: string[] = []
    let kinds = [...kindsOfRelease(22), ...Array.from({ length: 20 }, (_, i) => gear(i))]
    const publisher = publisherOf(
      () => kinds,
      state,
      ({ kind }) => {
        requested.push(kind)
        return widgetSchema
      },
    )
    await make(publisher)
    requested.length = 0
    kinds = [...kinds, gear(20)]
    state.generation++
    await make(publisher)
    assert.deepEqual(requested, ['Gear20'], what)
  }
})

test('many kinds are described in turns, once for all clients', async () => {
  const kinds = [...kindsOfRelease(22), ...Array.from({ length: 400 }, (_, i) => gear(i))]
  const publisher = publisherOf(() => kinds, { generation: 1 })
  for (const make of [() => publisher.v2(), () => publisher.v2Protobuf()]) {
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    const [one, other] = await Promise.all([make(), make()])
    clearInterval(timer)
    assert.ok(turns > 2, `others had ${turns} turns`)
    assert.equal(one, other)
    assert.equal(await make(), one)
    const hash = createHash('sha512').update(one.bytes).digest('hex').toUpperCase()
    assert.equal(one.hash, hash)
  }
})

test('kinds that are added while a document is generated are in the next one', async () => {
  const state = { generation: 1 }
  let kinds = [...kindsOfRelease(22), gear(1)]
  const publisher = publisherOf(() => kinds, state)
  const first = publisher.v2()
  kinds = [...kinds, gear(2)]
  state.generation++
  const names = async (made: Published | Promise<Published>) =>
    Object.keys(JSON.parse((await made).bytes.toString()).definitions).filter((name) =>
      /Gear\d$/.test(name),
    )
  const [before, after] = await Promise.all([names(first), names(publisher.v2())])
  assert.deepEqual(before, ['com.example.shop.v1.Gear1'])
  assert.deepEqual(after, ['com.example.shop.v1.Gear1', 'com.example.shop.v1.Gear2'])
  assert.deepEqual(await names(publisher.v2()), after)
})

const listsValues: [enums: boolean, isListed: boolean][] = [
  [true, true],
  [false, false],
]
for (const [enums, isListed] of listsValues)
  test(`fields list their values: ${isListed}`, () => {
    const { definitions } = documentV2({ ...sourceOf(37), enums }) as Any
    const { restartPolicy } = definitions['io.k8s.api.core.v1.PodSpec'].properties
    const values = isListed ? ['Always', 'Never', 'OnFailure'] : undefined
    assert.deepEqual(restartPolicy.enum, values)
    assert.equal(restartPolicy.default, undefined)
  })

test('OpenAPI v3 declares the defaults of fields that are always written', () => {
  const source = sourceOf(37)
  const content = documentsV3(source).get('api/v1')?.() as ContentV3
  const document = documentV3(content, source, groupVersionKinds(source)) as Any
  const definitions = document.components.schemas
  const { spec } = definitions['io.k8s.api.core.v1.Pod'].properties
  const { name, image, stdin } = definitions['io.k8s.api.core.v1.Container'].properties
  const { containerPort } = definitions['io.k8s.api.core.v1.ContainerPort'].properties
  assert.deepEqual(spec.default, {})
  assert.deepEqual(
    [name, image, stdin, containerPort].map((field) => field.default),
    ['', undefined, undefined, 0],
  )
  assert.deepEqual(definitions['io.k8s.apimachinery.pkg.api.resource.Quantity'].oneOf, [
    { type: 'string' },
    { type: 'number' },
  ])
})

test('with the feature gate, built-in kinds offer CBOR', () => {
  const { paths } = documentV2({ ...sourceOf(37, [widget], widgetSchema), servesCbor: true }) as Any
  const pods = paths['/api/v1/namespaces/{namespace}/pods/{name}']
  assert.deepEqual(pods.get.produces.at(-1), 'application/cbor')
  assert.deepEqual(pods.patch.consumes.at(-1), 'application/apply-patch+cbor')
  const list = paths['/api/v1/namespaces/{namespace}/pods'].get
  assert.deepEqual(list.produces.at(-1), 'application/cbor-seq')
  assert.equal(paths['/api/'].get.consumes.at(-1), 'application/cbor')
  assert.equal(JSON.stringify(documentV2(sourceOf(37))).includes('cbor'), false)
})

for (const [release, version] of [
  [30, 'v1.30.14'],
  [31, '1.31'],
] as const)
  test(`documents of ${release} are of version ${version}`, () => {
    assert.equal((documentV2(sourceOf(release)) as Any).info.version, version)
  })

test('a union without a discriminator lists its members, a granular map says that it is one', () => {
  const { definitions } = documentV2(sourceOf(37)) as Any
  assert.deepEqual(definitions['io.k8s.api.core.v1.PodSchedulingGroup']['x-kubernetes-unions'], [
    { 'fields-to-discriminateBy': { podGroupName: 'PodGroupName' } },
  ])
  const { claimRef } = definitions['io.k8s.api.core.v1.PersistentVolumeSpec'].properties
  assert.equal(claimRef['x-kubernetes-map-type'], 'granular')
})

const deleteOptions = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'
const watchEvent = 'io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent'
const status = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status'

function documentOf(release: number, name: string): Any {
  const source = sourceOf(release, [widget], widgetSchema)
  const content = documentsV3(source).get(name)?.() as ContentV3
  return documentV3(content, source, groupVersionKinds(source))
}

const versionsIn = (document: Any, name: string): string[] | undefined =>
  document.components.schemas[name]?.['x-kubernetes-group-version-kind']?.map(
    ({ group, version }: Any) => `${group}/${version}`,
  )

const shop = 'apis/shop.example.com/v1'
const kindCounts: [release: number, document: string, definition: string, count: number][] = [
  [35, 'apis/apps/v1', deleteOptions, 62],
  [36, 'apis/apps/v1', deleteOptions, 2],
  [35, 'api/v1', watchEvent, 62],
  [36, 'api/v1', watchEvent, 1],
  [25, 'apis/apps/v1', status, 1],
  [26, 'apis/apps/v1', status, 2],
  [30, 'apis/apps/v1', status, 2],
  [31, 'apis/apps/v1', status, 1],
  [23, shop, deleteOptions, 52],
  [24, shop, deleteOptions, 0],
  [26, shop, deleteOptions, 0],
  [27, shop, deleteOptions, 51],
  [28, shop, deleteOptions, 51],
  [28, shop, status, 2],
  [31, shop, deleteOptions, 53],
  [34, shop, deleteOptions, 55],
  [37, shop, deleteOptions, 55],
  [37, shop, status, 1],
]
for (const [release, name, definition, count] of kindCounts)
  test(`${name} of 1.${release} lists ${count} kinds of ${definition.split('.').at(-1)}`, () => {
    const found = versionsIn(documentOf(release, name), definition)
    assert.equal(found?.length ?? 0, count)
  })

test('an OpenAPI v3 document names core and its own version for kinds of every group', () => {
  for (const definition of [deleteOptions, watchEvent])
    assert.deepEqual(versionsIn(documentOf(37, 'apis/apps/v1'), definition), ['/v1', 'apps/v1'])
  const { definitions } = documentV2(sourceOf(37)) as Any
  assert.equal(definitions[deleteOptions]['x-kubernetes-group-version-kind'].length, 62)
})

const keys = '.well-known/openid-configuration'
const parts: [release: number, document: string, title: string, parts: string[]][] = [
  [23, shop, 'Kubernetes', ['schemas', 'securitySchemes']],
  [24, shop, 'Kubernetes CRD Swagger', ['schemas']],
  [37, shop, 'Kubernetes CRD Swagger', ['schemas']],
  [37, 'apis/apps/v1', 'Kubernetes', ['schemas', 'securitySchemes']],
  [23, keys, 'Kubernetes', ['schemas', 'securitySchemes']],
  [24, keys, 'Kubernetes', ['securitySchemes']],
]
for (const [release, name, title, expected] of parts)
  test(`the title and the components of ${name} of 1.${release}`, () => {
    const { info, components } = documentOf(release, name)
    assert.deepEqual([info.title, Object.keys(components)], [title, expected])
  })

const allOfDocument: [release: number, document: string, isThere: boolean][] = [
  [23, 'apis/apiregistration.k8s.io/v1', true],
  [24, 'apis/apiregistration.k8s.io/v1', false],
  [26, 'apis/apiregistration.k8s.io', false],
  [27, 'apis/apiregistration.k8s.io/v1', true],
]
for (const [release, name, isThere] of allOfDocument)
  test(`1.${release} has the document ${name}: ${isThere}`, () => {
    assert.equal(documentsV3(sourceOf(release)).has(name), isThere)
  })

const zeros: [release: number, item: Any, value: Any, quantity: Any, time: Any, body: Any][] = [
  [23, undefined, undefined, undefined, undefined, true],
  [24, '', {}, {}, {}, undefined],
  [28, '', {}, {}, {}, undefined],
  [29, '', {}, undefined, undefined, true],
  [36, '', {}, undefined, undefined, true],
  [37, undefined, undefined, undefined, undefined, true],
]
for (const [release, item, value, quantity, time, body] of zeros)
  test(`defaults of items and leaves, and required bodies as 1.${release}`, () => {
    const { components, paths } = documentOf(release, 'api/v1')
    const { schemas } = components
    const propertiesOf = (name: string) => schemas[`io.k8s.api.core.v1.${name}`].properties
    const { command, env } = propertiesOf('Container')
    const { limits } = propertiesOf('ResourceRequirements')
    const { startedAt } = propertiesOf('ContainerStateRunning')
    assert.deepEqual([command.items.default, env.items.default], [item, value])
    assert.deepEqual([limits.additionalProperties.default, startedAt.default], [quantity, time])
    const { requestBody } = paths['/api/v1/namespaces/{namespace}/pods'].post
    assert.equal(requestBody.required, body)
  })

for (const [release, lists] of [
  [36, false],
  [37, true],
] as const)
  test(`lists of groups are offered in CBOR as 1.${release}: ${lists}`, () => {
    const { paths } = documentV2({ ...sourceOf(release), servesCbor: true }) as Any
    const offers = (path: string) => paths[path].get.produces.includes('application/cbor')
    assert.deepEqual([offers('/apis/'), offers('/apis/apps/')], [lists, lists])
    assert.equal(offers('/apis/apps/v1/'), true)
  })

for (const [release, required] of [
  [29, undefined],
  [30, ['parentRef']],
] as const)
  test(`a field marked as required is required although it can be omitted: 1.${release}`, () => {
    const schema = structSchema(
      facts.typeOf('io.k8s.api.networking.v1alpha1.IPAddressSpec', release),
      { form: form2, needs: () => {}, describe: () => undefined, enums: false },
    )
    assert.deepEqual(schema.required, required)
  })
