import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldError, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import { field, mapOf, scalar, structOf } from '#schema/make-type.ts'
import { customResource, type CustomOptions } from './custom.ts'
import { publishedSchema } from './custom/custom-kind.ts'
import { markUnread } from './custom/unread.ts'
import type { Context, Kind } from './kind.ts'

const objectMeta = structOf('meta', [
  field('name', scalar('string'), 1, 'o'),
  field('namespace', scalar('string'), 3, 'o'),
  field('generation', scalar('int64'), 7, 'o'),
  field('creationTimestamp', scalar('time'), 8, 'o'),
  field('labels', mapOf(scalar('string')), 11, 'o'),
])

const options: CustomOptions = {
  root: '/registry',
  release: 22,
  feature: (name) => name !== 'CRDValidationRatcheting',
  objectMeta,
  convertElsewhere: async (_definition, objects, apiVersion) =>
    objects.map((object) => ({ ...object, apiVersion, spec: { ...object.spec, converted: true } })),
}

const schema = (properties: Loose, more: Loose = {}) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties, ...more } },
  },
})

function definition(versions: Loose[], more: Loose = {}): KubeObject {
  return {
    metadata: { name: 'gears.example.com', uid: 'u', generation: 1 },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gears', kind: 'Gear' },
      versions,
      conversion: { strategy: 'None' },
      ...more,
    },
    status: {
      conditions: [{ type: 'Established', status: 'True' }],
      acceptedNames: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
    },
  }
}

const size = { size: { type: 'integer', default: 1 }, name: { type: 'string' } }
const one = {
  name: 'v1',
  served: true,
  storage: true,
  schema: schema(size),
  subresources: { status: {} },
}
const object = (spec: Loose, more: Loose = {}) => ({
  kind: 'Gear',
  apiVersion: 'example.com/v1',
  metadata: { name: 'g' },
  spec,
  ...more,
})
const context = { requestApiVersion: 'example.com/v1' } as Context

test('a kind decodes, defaults and validates its objects', () => {
  const [kind] = customResource(definition([one]), options).kinds
  const read = kind.conform(object({ name: 'x', extra: 1 })).object
  kind.applyDefaults(read)
  assert.deepEqual(JSON.parse(JSON.stringify(read)), {
    kind: 'Gear',
    apiVersion: 'example.com/v1',
    metadata: { name: 'g', creationTimestamp: null },
    spec: { name: 'x', size: 1 },
  })
  assert.deepEqual(Object.keys(read.spec), ['name', 'size'], 'equal objects are equal bytes')
  const errors = kind.validateSchema?.(kind.conform(object({ size: 'x' })).object) ?? []
  assert.deepEqual(
    errors.map(({ field: at }) => at),
    ['spec.size'],
  )
})

test('metadata of the wrong type is rejected', () => {
  const [kind] = customResource(definition([one]), options).kinds
  assert.throws(
    () => kind.conform(object({}, { metadata: { name: 1 } })),
    /cannot be handled as a Gear/,
  )
})

const embedding = (more: Loose) => ({
  ...one,
  schema: schema({ inner: { type: 'object', 'x-kubernetes-embedded-resource': true, ...more } }),
})
const named = { type: 'string', default: 'n' }
const metaDefaults: [string, Loose, Loose, Loose][] = [
  [
    'the default of metadata keeps what metadata has',
    { properties: { metadata: { type: 'object', default: { name: 'n', other: 'o' } } } },
    {},
    { metadata: { name: 'n' } },
  ],
  [
    'fields that metadata does not have get no default',
    { properties: { metadata: { type: 'object', properties: { name: named, other: named } } } },
    { metadata: {} },
    { metadata: { name: 'n' } },
  ],
  [
    'nor do invalid labels',
    { properties: { metadata: { type: 'object', default: { name: 'n', labels: { a: 1 } } } } },
    {},
    { metadata: { name: 'n' } },
  ],
]
for (const [name, more, given, expected] of metaDefaults) {
  test(`embedded objects: ${name}`, () => {
    const [kind] = customResource(definition([embedding(more)]), options).kinds
    const read = kind.conform(object({ inner: given })).object
    kind.applyDefaults(read)
    assert.deepEqual(JSON.parse(JSON.stringify(read.spec)), { inner: expected })
  })
}

const wrongMeta = { name: 'g', generation: 2, labels: { a: 1, b: 'c' } }
const inStore: [string, Loose, Loose, Loose][] = [
  ['metadata', {}, { metadata: wrongMeta }, { metadata: { name: 'g', generation: 2 } }],
  [
    'metadata of embedded objects',
    { kind: 'Inner', apiVersion: 1, metadata: wrongMeta },
    {},
    { spec: { inner: { kind: 'Inner', metadata: { name: 'g', generation: 2 } } } },
  ],
  [
    'but a field metadata that is not an object stays',
    { metadata: 'none' },
    {},
    { spec: { inner: { metadata: 'none' } } },
  ],
]
for (const [name, inner, more, expected] of inStore) {
  test(`what cannot be read is left out of what is stored: ${name}`, () => {
    const resource = customResource(definition([embedding({})]), options)
    const read = resource.restore?.(object({ inner }, more) as KubeObject) as KubeObject
    const told = JSON.parse(JSON.stringify(read))
    delete told.metadata.creationTimestamp
    for (const key of Object.keys(expected)) assert.deepEqual(told[key], expected[key])
  })
}

test('status is separate if the version declares the subresource', () => {
  const { behaviour } = customResource(definition([one]), options)
  const made = object({ size: 1 }, { status: { ready: true } }) as KubeObject
  behaviour.prepareForCreate?.(made, context)
  assert.equal(made.status, undefined)
  assert.equal(made.metadata.generation, 1)
  const next = object({ size: 9 }, { status: { ready: false } }) as KubeObject
  behaviour.subresources?.status.prepareForUpdate?.(next, made, context)
  assert.deepEqual([next.spec, next.status], [{ size: 1 }, { ready: false }])
  const same = structuredClone(made)
  behaviour.prepareForUpdate?.(same, made, context)
  assert.equal(same.metadata.generation, 1)
  same.spec.size = 2
  behaviour.prepareForUpdate?.(same, made, context)
  assert.equal(same.metadata.generation, 2)
})

const two = {
  name: 'v2',
  served: true,
  storage: false,
  schema: schema({ weight: { type: 'integer' } }),
}

test('versions are equal except for their name only if their schemas are', async () => {
  const resource = customResource(definition([one, two]), options)
  const [v2, v1] = resource.kinds as [Kind, Kind]
  assert.deepEqual([v2.version, v1.version], ['v2', 'v1'], 'the preferred one first')
  assert.equal(resource.sameShape(v1, v2), false)
  const [hub] = await resource.convert(
    [v2.conform({ ...object({ weight: 3 }), apiVersion: 'example.com/v2' }).object],
    v2,
    resource.hub,
  )
  assert.deepEqual(hub.spec, { weight: 3 }, 'nothing is lost on the way to the hub')
  const [stored] = await resource.convert([hub], resource.hub, resource.stored)
  resource.fillStored?.(stored)
  assert.deepEqual([stored.apiVersion, stored.spec], ['example.com/v1', { size: 1 }])
  const named = await resource.renamed?.(stored, v2)
  assert.deepEqual([named?.apiVersion, named?.spec], ['example.com/v2', { size: 1 }])
  const twins = customResource(definition([one, { ...two, schema: one.schema }]), options)
  assert.equal(twins.sameShape(twins.kinds[0], twins.kinds[1]), true)
})

test('an object stored as another version has the defaults of that version', () => {
  const named = schema({ name: { type: 'string' }, size: { type: 'integer' } })
  const resource = customResource(
    definition([
      { ...one, storage: false, schema: named },
      { ...one, name: 'v2' },
    ]),
    options,
  )
  const [v1, v2] = ['v1', 'v2'].map((name) => resource.kindOf(`example.com/${name}`) as Kind)
  const sizeAfter = (from: Kind) => {
    const [read] = resource.convert([object({ name: 'a' })], from, v2) as KubeObject[]
    return read
  }
  assert.equal(sizeAfter(v1).spec.size, undefined)
  const read = sizeAfter(resource.hub)
  assert.equal(read.spec.size, undefined, 'what was stored as v1 and is changed as v2')
  resource.fillStored?.(read)
  assert.equal(read.spec.size, 1, 'what is written is read back')
})

test('a webhook converts if the definition declares it', async () => {
  const open = {
    ...two,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  }
  const resource = customResource(
    definition([one, open], { conversion: { strategy: 'Webhook' } }),
    options,
  )
  const [v2, v1] = resource.kinds
  const [converted] = await resource.convert([object({ size: 1 }) as KubeObject], v1, v2)
  assert.deepEqual(
    [converted.apiVersion, converted.spec],
    ['example.com/v2', { converted: true, size: 1 }],
  )
})

test('objects that were written with an older definition are decoded by the current one', () => {
  const resource = customResource(definition([one]), options)
  const written = {
    kind: 'Gear',
    apiVersion: 'example.com/v1',
    metadata: { name: 'g', generation: 1, creationTimestamp: '2020-01-01T00:00:00Z' },
  }
  assert.equal(resource.restore?.({ ...written, spec: { size: 3 } }), undefined)
  assert.deepEqual(resource.restore?.({ ...written, spec: { gone: 1 } })?.spec, { size: 1 })
  // A pending deletion appends fields, so the order of stored metadata may differ.
  const { name, ...others } = written.metadata
  const reordered = { ...written, metadata: { ...others, name }, spec: { size: 3 } }
  assert.equal(resource.restore?.(reordered), undefined)
})

test('a status that clients may not write gets its default', () => {
  const status = { type: 'object', properties: { ready: { type: 'boolean' } } }
  const rows: [Loose, unknown][] = [
    [status, undefined],
    [{ ...status, default: { ready: false } }, { ready: false }],
  ]
  for (const [given, want] of rows) {
    const { openAPIV3Schema } = schema(size)
    const properties = { ...openAPIV3Schema.properties, status: given }
    const version = { ...one, schema: { openAPIV3Schema: { ...openAPIV3Schema, properties } } }
    const { behaviour } = customResource(definition([version]), options)
    const made = object({}, { status: { ready: true } }) as KubeObject
    behaviour.prepareForCreate?.(made, { requestApiVersion: 'example.com/v1' } as Context)
    assert.deepEqual(made.status, want)
  }
})

test('a new object is validated without the default status that reads return', () => {
  const status = { type: 'object', properties: { d: { type: 'object' } }, default: { d: {} } }
  const withStatus = (given: Loose) => ({
    openAPIV3Schema: { type: 'object', properties: { status: given } },
  })
  const text = { type: 'object', properties: { d: { type: 'string' } } }
  const versions = [
    { ...one, storage: false, schema: withStatus(text) },
    { ...two, storage: true, schema: withStatus(status) },
  ]
  const resource = customResource(definition(versions), options)
  const made = object({}) as KubeObject
  resource.behaviour.prepareForCreate?.(made, context)
  assert.deepEqual(made.status, { d: {} })
  const v1 = resource.kindOf('example.com/v1')
  assert.deepEqual(v1?.validateSchema?.(made), [])
  const later = v1?.validateSchema?.(made, { old: made }) ?? []
  assert.ok(later.some(({ field }) => field === 'status.d'))
})

test('fields that the version of the writer lacks are pruned, and that counts as no change', () => {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const { subresources: _, ...plain } = one
  const versions = [
    { ...plain, storage: false },
    { ...two, storage: true, schema: { openAPIV3Schema: open } },
  ]
  const { behaviour } = customResource(definition(versions), options)
  const stored = (spec: Loose) =>
    object(spec, {
      apiVersion: 'example.com/v2',
      metadata: { name: 'g', generation: 1 },
    }) as KubeObject
  const rows: [next: Loose, generation: number][] = [
    [{ size: 2 }, 1],
    [{ size: 3 }, 2],
  ]
  for (const [spec, generation] of rows) {
    const next = stored(spec)
    behaviour.prepareForUpdate?.(next, stored({ size: 2, other: 1 }), context)
    assert.equal(next.metadata.generation, generation)
  }
})

test('more items may be repeated than a call has arguments', () => {
  const items = { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' }
  const version = { ...one, schema: schema({ items }) }
  const [kind] = customResource(definition([version]), options).kinds
  const twice = Array.from({ length: 300_000 }, (_, i) => i >> 1)
  assert.equal(kind.validateSchema?.(object({ items: twice }) as KubeObject).length, 150_000)
})

test('the result of an apply is validated, and fields that will be pruned are removed', () => {
  const any = { 'x-kubernetes-preserve-unknown-fields': true }
  const version = { ...one, schema: schema({ ...size, any }) }
  const resource = customResource(definition([version]), options)
  const [kind] = resource.kinds
  const merged = kind.conformMerged?.(object({ name: null, any: null })).object as KubeObject
  assert.deepEqual(merged.spec, { name: null, any: null })
  assert.deepEqual(
    kind.validateSchema?.(merged).map(({ field }) => field),
    ['spec.name'],
  )
  assert.deepEqual(resource.readBack?.(merged)?.spec, {})
  assert.equal(resource.readBack?.(object({}) as KubeObject), undefined)
  const both = customResource(definition([version, { ...two, schema: version.schema }]), options)
  const other = both.kindOf('example.com/v2') as Kind
  const left = other.conformMerged?.(object({ any: null })).object as KubeObject
  const [hub] = both.convert([left], other, both.hub) as KubeObject[]
  const [shown] = both.convert([hub], both.hub, other) as KubeObject[]
  assert.deepEqual(shown.spec, { any: null }, 'checked in the version of the writer')
  const [stored] = both.convert([structuredClone(shown)], both.hub, both.stored) as KubeObject[]
  both.fillStored?.(stored)
  assert.deepEqual(stored.spec, { size: 1 })
})

test('lists that were invalid before, in the version of the writer, are not reported again', () => {
  const items = { type: 'object', properties: { k: { type: 'string' } } }
  const set = { type: 'array', 'x-kubernetes-list-type': 'set', items }
  const version = { ...one, schema: schema({ set }) }
  const [kind] = customResource(definition([version]), options).kinds
  const wrong = kind.conform(object({ set: [{ k: 'a' }, { k: 'a' }] })).object
  const told = (old?: KubeObject) => {
    const fields = kind.validateSchema?.(wrong, { old }).map(({ field }) => field)
    return fields?.filter((field) => field.startsWith('spec'))
  }
  assert.deepEqual(told(), ['spec.set[1]'])
  const more = {
    ...wrong,
    spec: {
      set: [
        { k: 'b', other: 1 },
        { k: 'b', other: 2 },
      ],
    },
  }
  assert.deepEqual(told(more), [], 'no other version sees the difference')
  assert.deepEqual(told({ ...wrong, spec: { set: [{ k: 'b' }] } }), ['spec.set[1]'])
})

test('apply may merge unreadable values: they are kept in validated parts and dropped from metadata', () => {
  const resource = customResource(definition([one]), options)
  const [kind] = resource.kinds
  const metadata = { name: 'a', generation: 1.5, creationTimestamp: 1, labels: { a: 'b' } }
  const given = { ...object({ extra: 1, none: null }), metadata }
  const merged = kind.conformMerged?.(given).object as KubeObject
  assert.deepEqual(merged.spec, { extra: 1, none: null })
  assert.deepEqual([merged.metadata.name, merged.metadata.labels], ['a', { a: 'b' }])
  assert.equal(merged.metadata.generation, undefined)
  assert.ok(!merged.metadata.creationTimestamp)
  assert.deepEqual(resource.readBack?.(merged)?.spec, {})
})

test("unreadable metadata is reported with kube-apiserver's message, before the problems inside", () => {
  const embedded = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  }
  const version = { ...one, schema: schema({ inside: embedded }) }
  const [kind] = customResource(definition([version]), options).kinds
  const inside = { apiVersion: 1, kind: 'Pod' }
  const rows: readonly [Loose, RegExp][] = [
    [{ name: 1 }, /a Gear: v1\.ObjectMeta\.Name: ReadString: expects " or n, but found 1, error/],
    [{ labels: [] }, /a Gear: v1\.ObjectMeta\.Labels: ReadMapCB: expect { or n, but found \[, /],
    [{ name: 'a' }, /a Gear: spec\.inside\.apiVersion: Invalid value: 1: must be a string$/],
  ]
  for (const [metadata, said] of rows) {
    assert.throws(() => kind.conform({ ...object({ inside }), metadata }), said)
  }
})

test('a definition that is being deleted has a condition, and its kind keeps its verbs', () => {
  const made = definition([one])
  const kindOf = (given: KubeObject) => customResource(given, options).kinds[0] as Kind
  assert.equal(kindOf(made).resource.terminating, false)
  made.status.conditions.push({ type: 'Terminating', status: 'True' })
  assert.equal(kindOf(made).resource.terminating, true)
  assert.equal(kindOf(made).verbs.has('create'), true)
})

test('deprecated versions are marked', () => {
  const old = { ...one, name: 'v1beta1', deprecated: true, storage: false }
  const resource = customResource(definition([one, old]), options)
  const kind = resource.kinds.find(({ version }) => version === 'v1beta1')
  assert.equal(
    kind?.deprecation?.warning,
    'example.com/v1beta1 Gear is deprecated; use example.com/v1 Gear',
  )
})

/**
 * Whether the newer version is served and deprecated, and whether the older one, which is, names
 * it.
 */
for (const [served, deprecated, named] of [
  [true, false, true],
  [false, false, false],
  [true, true, false],
] as const) {
  test(`a better version is named: served ${served}, deprecated ${deprecated}`, () => {
    const old = { ...one, name: 'v1beta1', deprecated: true, storage: false }
    const newer = { ...one, served, deprecated }
    const kind = customResource(definition([newer, old]), options).kindOf('example.com/v1beta1')
    const warning = 'example.com/v1beta1 Gear is deprecated'
    const better = named ? '; use example.com/v1 Gear' : ''
    assert.equal(kind?.deprecation?.warning, `${warning}${better}`)
  })
}

test('older releases keep nulls, report all problems at once, and a gate hides selfLink', () => {
  const kindIn = (release: number) =>
    customResource(definition([one]), { ...options, release }).kindOf('example.com/v1') as Kind
  const read = (release: number, spec: Loose) => kindIn(release).conform(object(spec)).object
  assert.deepEqual(read(20, { name: null }).spec, {})
  assert.deepEqual(read(19, { name: null }).spec, { name: null })
  assert.deepEqual(
    [true, false].map((on) => {
      const [kind] = customResource(definition([one]), { ...options, feature: () => on }).kinds
      return kind.selfLinks
    }),
    [false, true],
  )
  const wrong = { name: 1, size: 'x' }
  const said = (release: number) =>
    kindIn(release)
      .validateSchema?.(read(release, wrong))
      .map(({ field, message }) => `${field}: ${message}`)
  assert.deepEqual(said(16), [
    'spec.name: Invalid value: "integer": spec.name in body must be of type string: "integer"',
    'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
  ])
  const [all, ...more] = said(15) ?? []
  assert.deepEqual(more, [])
  assert.match(all, /^\[\]: Invalid value: map\[string\]interface \{\}\{"apiVersion":"example.com/)
  assert.match(all, /failure list:\nspec.name in body must .*\nspec.size in body must /)
})

test('validation rules do not run on an object without a name', () => {
  const rules = { 'x-kubernetes-validations': [{ rule: 'self.size > 1' }] }
  const version = { ...one, schema: schema(size, rules) }
  const given = { ...options, release: 37 }
  const [kind] = customResource(definition([version]), given).kinds
  const wrong = object({ size: 1 }) as KubeObject
  const nameless = required(FieldPath.of('metadata').child('name'))
  const messages = (metadataErrors: FieldError[]) =>
    kind.validateSchema?.(wrong, { metadataErrors }).map(({ message }) => message) ?? []
  assert.deepEqual(messages([]), ['Invalid value: failed rule: self.size > 1'])
  assert.match(messages([nameless]).join(), /some validation rules were not checked/)
})

test('a value that did not change for the version of the write may break its schema', () => {
  const part = { part: { type: 'object', properties: { a: { type: 'string' } } } }
  const list = { part: { type: 'array', items: { type: 'string' } } }
  const versions = [
    { ...one, schema: schema(part) },
    { ...one, name: 'v2', storage: false, schema: schema(list) },
  ]
  const given = { ...options, release: 37, feature: () => true }
  const [v2] = customResource(definition(versions), given).kinds
  const metadata = { name: 'g', resourceVersion: '1' }
  const next = { ...object({ part: {} }, { metadata }), apiVersion: 'example.com/v2' } as KubeObject
  const errors = (stored: Loose) =>
    v2
      .validateSchema?.(next, { old: object(stored, { metadata }) as KubeObject })
      ?.map(({ field }) => field)
  assert.deepEqual(errors({ part: { a: 'x' } }), [], 'v2 does not see the member')
  assert.deepEqual(errors({ part: ['x'] }), ['spec.part'])
})

test('the definition specifies the paths of scale', () => {
  const scale = {
    specReplicasPath: '.spec.size',
    statusReplicasPath: '.status.n',
    labelSelectorPath: '.status.s',
  }
  const [kind] = customResource(definition([{ ...one, subresources: { scale } }]), options).kinds
  assert.deepEqual(kind.scale, {
    specReplicas: ['spec', 'size'],
    statusReplicas: ['status', 'n'],
    labelSelector: ['status', 's'],
  })
  assert.deepEqual([...kind.subresources.keys()], ['scale'])
  const errors = kind.validateSchema?.(object({ size: -1 }) as KubeObject) ?? []
  assert.deepEqual(
    errors.map(({ message }) => message),
    ['Invalid value: -1: should be a non-negative integer'],
  )
})

test('columns are read by JSONPath', () => {
  const columns = [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'All', type: 'string', jsonPath: '.spec' },
  ]
  const [kind] = customResource(
    definition([{ ...one, additionalPrinterColumns: columns }]),
    options,
  ).kinds
  const shown = object(
    { size: 2 },
    { metadata: { name: 'g', creationTimestamp: '2020-01-01T00:00:00Z' } },
  )
  const now = Date.parse('2020-01-01T00:01:00Z')
  assert.deepEqual(kind.columns?.cells(shown as KubeObject, now), ['g', 2, '60s', '{"size":2}'])
})

test('only structural schemas are published', () => {
  const [kind] = customResource(definition([one]), options).kinds
  assert.deepEqual(publishedSchema(kind), one.schema.openAPIV3Schema)
})

test('a thousand definitions cost little until they are used', () => {
  const spentMs = processorMs(() => {
    for (let i = 0; i < 1000; i++) customResource(definition([one, two]), options)
  })
  assert.ok(spentMs < 500, `${spentMs} ms`)
})

test('replicas at a path that the requested version lacks are validated nevertheless', () => {
  const scale = { specReplicasPath: '.spec.name.n', statusReplicasPath: '.status.n' }
  const both = customResource(
    definition([
      { ...one, storage: false, subresources: { scale } },
      { ...one, name: 'v2', schema: schema({}) },
    ]),
    options,
  )
  const asked = both.kindOf('example.com/v1') as Kind
  const put = object({ name: { n: -1 } }) as KubeObject
  const [shown] = both.convert(
    [markUnread(put, ['spec', 'name', 'n'])],
    both.hub,
    asked,
  ) as KubeObject[]
  const said = (asked.validateSchema?.(shown) ?? []).map(({ field: at }) => at)
  assert.deepEqual(said, ['spec.name', '.spec.name.n'])
})
