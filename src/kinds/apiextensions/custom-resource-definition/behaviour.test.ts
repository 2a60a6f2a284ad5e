import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import { betaSpec, stableSpec } from './conversions.ts'
import { contextFor } from '#kinds/all-kinds/behaviour.suite.ts'
import { customResourceDefinitionBehaviour as behaviour } from './behaviour.ts'

const context = contextFor({ requestApiVersion: 'apiextensions.k8s.io/v1' })
const names = { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' }
const object = (properties: Loose = {}, more: Loose = {}) => ({
  type: 'object',
  properties,
  ...more,
})

function definition(schema: Loose, version: Loose = {}, spec: Loose = {}): KubeObject {
  const one = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    ...version,
  }
  return {
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gears.example.com', resourceVersion: '1' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [one],
      conversion: { strategy: 'None' },
      ...spec,
    },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  }
}

const errorsOf = (made: KubeObject) =>
  (behaviour.validateCreate?.(made, context) ?? []).map(
    ({ field, message }) => `${field}: ${message}`,
  )
const root = 'spec.validation.openAPIV3Schema'
const list = (items: Loose, more: Loose) => object({ l: { type: 'array', items, ...more } })

const cases: [KubeObject, ...string[]][] = [
  [definition(object({ spec: object({ a: { type: 'string', default: 'x' } }) }))],
  [
    definition(object(), {}, { group: 'example' }),
    'metadata.name: Invalid value: "gears.example.com": must be spec.names.plural+"."+spec.group',
    'spec.group: Invalid value: "example": should be a domain with at least one dot',
  ],
  [
    definition(object(), { schema: undefined }),
    'spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required',
  ],
  [
    definition(object({ a: { type: 'text' } })),
    `${root}.properties[a].type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
  ],
  [
    definition(object({ a: { type: 'integer', default: 'x' } })),
    `${root}.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"`,
  ],
  [
    definition(object({ a: object({ b: { type: 'string' } }, { default: { c: 1 } }) })),
    `${root}.properties[a].default: Invalid value: map[string]interface {}{"c":1}: must not have unknown fields`,
  ],
  [
    definition(object({ a: { type: 'array', items: { type: 'string' }, uniqueItems: true } })),
    `${root}.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
  ],
  [
    definition(object({ metadata: object({ name: { type: 'string', default: 'x' } }) })),
    `${root}.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata`,
  ],
  [
    definition(
      list(object({ k: { type: 'string' } }), {
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      }),
    ),
    `${root}.properties[l].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
  ],
  [
    definition(list(object(), { 'x-kubernetes-list-type': 'set' })),
    `${root}.properties[l].items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set`,
  ],
  [
    definition(object(), { deprecationWarning: 'x' }),
    'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions',
  ],
  [
    definition(object(), {
      subresources: { scale: { specReplicasPath: '.a', statusReplicasPath: '' } },
    }),
    'spec.subresources.scale.specReplicasPath: Invalid value: ".a": should be a json path under .spec',
    'spec.subresources.scale.statusReplicasPath: Required value',
  ],
  [
    definition(object(), {}, { group: 'x.k8s.io' }),
    'metadata.name: Invalid value: "gears.example.com": must be spec.names.plural+"."+spec.group',
    'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
  ],
]
for (const [made, ...expected] of cases) {
  test(JSON.stringify(made.spec).slice(0, 160), () => assert.deepEqual(errorsOf(made), expected))
}

test('a new definition has no status except the stored version', () => {
  const made = definition(object())
  made.status = { acceptedNames: { kind: 'Mine' } }
  behaviour.prepareForCreate?.(made, context)
  assert.deepEqual(made.status, {
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: ['v1'],
  })
  assert.equal(made.metadata.generation, 1)
})

test('empty lists in a status differ from absent ones', () => {
  for (const [written, shown] of [
    [[], []],
    [['conditions'], ['conditions']],
    [
      ['conditions', 'storedVersions'],
      ['conditions', 'storedVersions'],
    ],
  ]) {
    const old = definition(object())
    const next = structuredClone(old)
    next.status = { conditions: null, acceptedNames: names, storedVersions: null }
    for (const list of written) rememberEmpty(next.status, list)
    behaviour.subresources?.status?.prepareForUpdate?.(next, old, context)
    const empty = ['conditions', 'storedVersions'].filter((list) => next.status[list] !== null)
    assert.deepEqual(empty, shown)
  }
})

test('a new storage version is added to the status, and the old one stays', () => {
  const old = definition(object())
  const next = structuredClone(old)
  next.spec.versions[0].storage = false
  next.spec.versions.push({ ...next.spec.versions[0], name: 'v2', storage: true })
  next.metadata.generation = 1
  old.metadata.generation = 1
  behaviour.prepareForUpdate?.(next, old, context)
  assert.deepEqual(next.status.storedVersions, ['v1', 'v2'])
  assert.equal(next.metadata.generation, 2)
})

/** Immutable fields, and required fields of the status. */
const unchangeable: [what: string, change: (next: KubeObject) => void, ...said: string[]][] = [
  ['nothing', () => {}],
  [
    'the group',
    (next) => {
      next.spec.group = 'other.example.com'
    },
    'spec.group: Invalid value: "other.example.com": field is immutable',
  ],
  [
    'the plural',
    (next) => {
      next.spec.names.plural = 'others'
    },
    'spec.names.plural: Invalid value: "others": field is immutable',
  ],
  [
    'a stored version that is not in the spec',
    (next) => {
      next.status.storedVersions = ['v1', 'v0']
    },
    'status.storedVersions[1]: Invalid value: "v0": must appear in spec.versions',
  ],
]
for (const [what, change, ...said] of unchangeable) {
  test(`an update of ${what}`, () => {
    const old = definition(object())
    const next = structuredClone(old)
    change(next)
    const errors = behaviour.validateUpdate?.(next, old, context) ?? []
    assert.deepEqual(
      errors.map(({ field, message }) => `${field}: ${message}`),
      said,
    )
  })
}

test('an established definition keeps its scope and kind', () => {
  const old = definition(object())
  old.status.conditions = [{ type: 'Established', status: 'True' }]
  const next = structuredClone(old)
  next.spec.scope = 'Cluster'
  const said = (behaviour.validateUpdate?.(next, old, context) ?? []).map(({ field }) => field)
  assert.deepEqual(said, ['spec.scope'])
})

test('a list of type map has one schema for all its items', () => {
  const keys = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] }
  const [said] = errorsOf(definition(object({ l: { type: 'array', items: [], ...keys } })))
  assert.equal(
    said,
    `${root}.properties[l].items: Invalid value: apiextensions.JSONSchemaPropsOrArray{Schema:(*apiextensions.JSONSchemaProps)(nil), JSONSchemas:[]apiextensions.JSONSchemaProps(nil)}: must only have a single schema if x-kubernetes-list-type is map`,
  )
})

test('a wrong stored version is reported once, even if two versions have the same name', () => {
  const made = definition(object())
  made.spec.versions.push(structuredClone(made.spec.versions[0]))
  const said = errorsOf(made).filter((text) => text.startsWith('status'))
  assert.equal(said.length, 1)
  assert.match(said[0] as string, /must have the storage version v1$/)
})

test('an empty keyword counts as present', () => {
  const rows: [string, RegExp | undefined][] = [
    ['dependencies', /dependencies: Forbidden: dependencies is not supported$/],
    ['x-kubernetes-list-map-keys', /only \[.*\] fields are allowed at the root/],
    ['patternProperties', /only \[.*\] fields are allowed at the root/],
    ['required', undefined],
  ]
  for (const [keyword, want] of rows) {
    const schema = object()
    rememberEmpty(schema, keyword)
    const said = errorsOf(definition(schema, { subresources: { status: {} } })).join('\n')
    if (want === undefined) assert.equal(said, '', keyword)
    else assert.match(said, want, keyword)
  }
})

test('boolean keywords count at the root even if they are false', () => {
  for (const keyword of ['additionalItems', 'additionalProperties']) {
    const schema = { ...object(), [keyword]: false }
    const said = errorsOf(definition(schema, { subresources: { status: {} } })).join('\n')
    assert.match(said, /only \[.*\] fields are allowed at the root/, keyword)
  }
  const schema = { ...object(), nullable: false, enum: ['a', null] }
  const said = errorsOf(definition(schema, { subresources: { status: {} } })).join('\n')
  assert.match(said, /Enum:\[\]apiextensions\.JSON\{"a", apiextensions\.JSON\(nil\)\}/)
})

test('lists of columns that are written empty are shown empty', () => {
  const made = definition(object())
  const [first] = made.spec.versions
  made.spec.versions.push({ ...first, name: 'v2', additionalPrinterColumns: [{ name: 'A' }] })
  assert.match(errorsOf(made).join('\n'), /AdditionalPrinterColumns:\S+\(nil\)/)
  rememberEmpty(first, 'additionalPrinterColumns')
  assert.match(errorsOf(made).join('\n'), /AdditionalPrinterColumns:\S+Definition\{\}/)
})

test('v1beta1 states a common schema once', () => {
  const columns = [{ name: 'A', type: 'string', JSONPath: '.a' }]
  const version = { name: 'v1', served: true, storage: true }
  const schema = { openAPIV3Schema: object() }
  const rows: [Loose, ...string[]][] = [
    [{ validation: schema, versions: [version] }],
    [{ validation: schema, version: 'v1', versions: [version] }],
    [
      { validation: schema, version: 'v2', versions: [version] },
      'Invalid value: "v2": must match the first version in spec.versions',
    ],
    [
      { validation: schema, versions: [{ ...version, additionalPrinterColumns: columns }] },
      'per-version additionalPrinterColumns may not all be set to identical values (top-level additionalPrinterColumns should be used instead)',
    ],
    [
      {
        validation: schema,
        versions: [
          { ...version, schema },
          { ...version, name: 'v2', storage: false },
        ],
      },
      'top-level and per-version schemas are mutually exclusive',
    ],
    [
      {
        validation: schema,
        subresources: { status: {} },
        versions: [{ ...version, subresources: { status: {} } }],
      },
      'top-level and per-version subresources are mutually exclusive',
      'per-version subresources may not all be set to identical values (top-level subresources should be used instead)',
    ],
  ]
  const beta = { ...context, requestApiVersion: 'apiextensions.k8s.io/v1beta1' } as typeof context
  for (const [given, ...want] of rows) {
    const made = definition(object())
    made.spec = stableSpec({ group: 'example.com', names, scope: 'Namespaced', ...given })
    const said = behaviour.validateCreate?.(made, beta) ?? []
    assert.deepEqual(
      said.map(({ message }) =>
        message.replace(/^Forbidden: |^Invalid value: .*?\}: (?=per-)/s, ''),
      ),
      want,
    )
  }
})

test('both versions have the same contents', () => {
  const { spec } = definition(object(), {
    additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a' }],
  })
  const beta = betaSpec(spec)
  assert.deepEqual(
    [beta.version, beta.validation.openAPIV3Schema, beta.additionalPrinterColumns, beta.versions],
    [
      'v1',
      object(),
      [{ name: 'A', type: 'string', JSONPath: '.a' }],
      [{ name: 'v1', served: true, storage: true }],
    ],
  )
  assert.deepEqual(stableSpec(beta), spec)
})
