import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, ManagedFieldsEntry } from '#api/object-meta.ts'
import type { Struct, Type } from '#schema/type.ts'
import { conflictMessage } from './conflict.ts'
import { applyConfiguration, type FieldManagerKind, recordUpdate } from './field-manager.ts'
import { makeFieldSet } from './field-set.ts'
import {
  atomicList,
  dict,
  field,
  listBy,
  struct,
  text,
  thing,
  thingKind,
  thingOf,
} from './sample.suite.ts'

const at = (second: number) => `2021-01-01T00:00:0${second}Z`
const writer = (manager: string, second = 1, subresource = '') => ({
  manager,
  subresource,
  now: at(second),
})

/** `one Apply {"f:spec":{}}` per entry. */
const owners = (entries: ManagedFieldsEntry[] | undefined) =>
  (entries ?? []).map(
    ({ manager, operation, subresource, fieldsV1 }) =>
      `${manager}${subresource ? `/${subresource}` : ''} ${operation} ${JSON.stringify(fieldsV1)}`,
  )

function update(
  live: KubeObject | undefined,
  next: KubeObject,
  manager: string,
  second = 1,
  kind = thingKind,
) {
  const entries = recordUpdate(kind, live, next, writer(manager, second))
  return withOwners(next, entries)
}

function withOwners(object: KubeObject, entries: ManagedFieldsEntry[]): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata
  const owned = entries.length === 0 ? metadata : { ...metadata, managedFields: entries }
  return { ...object, metadata: { ...owned, uid: 'u' } }
}

function apply(
  live: KubeObject | undefined,
  config: KubeObject,
  manager: string,
  { force = false, second = 1, kind = thingKind } = {},
): KubeObject {
  const outcome = applyConfiguration(kind, live, config, { ...writer(manager, second), force })
  assert.ok('object' in outcome, 'conflicts' in outcome ? conflictMessage(outcome.conflicts) : '')
  return withOwners(outcome.object, outcome.object.metadata.managedFields ?? [])
}

function conflicts(live: KubeObject, config: KubeObject, manager: string): string {
  const outcome = applyConfiguration(thingKind, live, config, { ...writer(manager), force: false })
  return 'conflicts' in outcome ? conflictMessage(outcome.conflicts) : ''
}

test('a create owns the fields that differ from an empty object', () => {
  const made = thingOf({
    metadata: { name: 'a', creationTimestamp: at(0), uid: 'u', labels: { z: '1', a: '2' } },
    spec: {
      replicas: 1,
      containers: [
        { name: 'b', resources: {} },
        { name: 'a', resources: { limits: { cpu: '1' } } },
      ],
    },
    status: { observed: 0 },
  })
  assert.deepEqual(recordUpdate(thingKind, undefined, made, writer('maker')), [
    {
      manager: 'maker',
      operation: 'Update',
      apiVersion: 'example.com/v1',
      time: at(1),
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:metadata': { 'f:labels': { '.': {}, 'f:a': {}, 'f:z': {} } },
        'f:spec': {
          'f:containers': {
            'k:{"name":"a"}': {
              '.': {},
              'f:name': {},
              'f:resources': { '.': {}, 'f:limits': { '.': {}, 'f:cpu': {} } },
            },
            'k:{"name":"b"}': { '.': {}, 'f:name': {}, 'f:resources': {} },
          },
          'f:replicas': {},
        },
      },
    },
  ])
})

test('a writer without a name is called unknown', () => {
  const [entry] = recordUpdate(thingKind, undefined, thingOf({ spec: { replicas: 1 } }), writer(''))
  assert.equal(entry?.manager, 'unknown')
})

test('an object that equals an empty object has no managers', () => {
  assert.deepEqual(
    recordUpdate(thingKind, undefined, thingOf({ spec: { containers: null } }), writer('a')),
    [],
  )
})

test('since 1.37 a write whose owners cannot be computed keeps those of the live object', () => {
  const wrong = thingOf({ spec: { containers: 5 } } as never)
  const owned = (release: number) => {
    const kind = { ...thingKind, release }
    const live = update(undefined, thingOf({ spec: { replicas: 1 } }), 'a', 1, kind)
    return owners(recordUpdate(kind, live, wrong, writer('b')))
  }
  assert.deepEqual([owned(36), owned(37)], [[], ['a Update {"f:spec":{"f:replicas":{}}}']])
})

test('before 1.29 no manager owns a field of an object with items of the same key', () => {
  const kind = { ...thingKind, release: 28 }
  const twice = thingOf({ spec: { containers: [{ name: 'a' }, { name: 'a' }] } })
  assert.deepEqual(recordUpdate(kind, undefined, twice, writer('a')), [])
  const live = update(undefined, thingOf({ spec: { replicas: 1 } }), 'a', 1, kind)
  assert.deepEqual(recordUpdate(kind, live, twice, writer('a')), [])
})

test('a manager loses the fields that another changes', () => {
  let live = update(undefined, thingOf({ spec: { replicas: 1, paused: true } }), 'one', 1)
  live = update(live, { ...live, spec: { replicas: 2, paused: true } }, 'two', 2)
  assert.deepEqual(owners(live.metadata.managedFields), [
    'one Update {"f:spec":{"f:paused":{}}}',
    'two Update {"f:spec":{"f:replicas":{}}}',
  ])
  const again = update(live, { ...live, spec: { replicas: 3, paused: true } }, 'two', 3)
  const gone = update(again, { ...again, spec: { replicas: 3 } }, 'two', 4)
  assert.deepEqual(owners(gone.metadata.managedFields), ['two Update {"f:spec":{"f:replicas":{}}}'])
})

const timesOf = ({ metadata }: KubeObject) => metadata.managedFields?.map(({ time }) => time)
for (const [release, updated, applied] of [
  [24, [at(1), at(2)], at(3)],
  [25, [at(1), at(3)], undefined],
] as const) {
  test(`1.${release}: the times of owners after an update and after an apply that changes nothing`, () => {
    const kind = { ...thingKind, release }
    let live = update(undefined, thingOf({ spec: { replicas: 1, paused: true } }), 'z', 1, kind)
    live = update(live, { ...live, spec: { replicas: 2, paused: true } }, 'a', 2, kind)
    live = update(live, { ...live, spec: { replicas: 3, paused: true } }, 'a', 3, kind)
    assert.deepEqual(timesOf(live), updated)
    const config = thingOf({ spec: { paused: true } })
    const { metadata } = apply(live, config, 'b', { second: 3, kind })
    assert.equal(metadata.managedFields?.[0]?.time, applied)
  })
}

test('a write that changes nothing changes no owners', () => {
  const live = update(undefined, thingOf({ spec: { replicas: 1 } }), 'one', 1)
  assert.deepEqual(
    recordUpdate(thingKind, live, live, writer('two', 5)),
    live.metadata.managedFields,
  )
})

const resets: [what: string, written: unknown, left: string[]][] = [
  ['one empty entry clears', [{}], []],
  ['an empty list does not', [], ['one Update {"f:spec":{"f:replicas":{}}}']],
  ['nor does none', undefined, ['one Update {"f:spec":{"f:replicas":{}}}']],
  ['nor what cannot be read', [{ manager: 'x' }], ['one Update {"f:spec":{"f:replicas":{}}}']],
  [
    'entries may be rewritten by hand',
    [
      {
        manager: 'x',
        operation: 'Update',
        apiVersion: 'example.com/v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': {} },
      },
    ],
    ['x Update {"f:spec":{}}'],
  ],
]
for (const [what, written, left] of resets) {
  test(`managedFields of a request: ${what}`, () => {
    const live = update(undefined, thingOf({ spec: { replicas: 1 } }), 'one')
    const next = {
      ...live,
      metadata: { ...live.metadata, managedFields: written as ManagedFieldsEntry[] },
    }
    assert.deepEqual(owners(recordUpdate(thingKind, live, next, writer('two'))), left)
  })
}

test('a reset is applied first; then the writer owns its other changes', () => {
  const live = update(undefined, thingOf({ spec: { replicas: 1 } }), 'one')
  const next = {
    ...live,
    spec: { replicas: 2 },
    metadata: { ...live.metadata, managedFields: [{}] },
  }
  assert.deepEqual(owners(recordUpdate(thingKind, live, next, writer('two'))), [
    'two Update {"f:spec":{"f:replicas":{}}}',
  ])
})

test('a write to a subresource cannot rewrite managedFields, and has its own entry', () => {
  const live = update(undefined, thingOf({ spec: { replicas: 1 }, status: { observed: 0 } }), 'one')
  const next = {
    ...live,
    status: { phase: 'up', observed: 0 },
    metadata: { ...live.metadata, managedFields: [{}] },
  }
  assert.deepEqual(owners(recordUpdate(thingKind, live, next, writer('one', 2, 'status'))), [
    'one Update {"f:spec":{"f:replicas":{}}}',
    'one/status Update {"f:status":{"f:phase":{}}}',
  ])
})

test('the writer does not own fields that the write resets', () => {
  const kind = {
    ...thingKind,
    resetFields: () => makeFieldSet([['status'], ['metadata', 'labels']]),
  }
  const made = thingOf({
    metadata: { name: 'a', labels: { a: '1' } },
    spec: { replicas: 1 },
    status: { phase: 'up', observed: 3 },
  })
  assert.deepEqual(owners(recordUpdate(kind, undefined, made, writer('one'))), [
    'one Update {"f:spec":{"f:replicas":{}}}',
  ])
  const live = apply(undefined, made, 'two', { kind })
  assert.deepEqual(owners(live.metadata.managedFields), ['two Apply {"f:spec":{"f:replicas":{}}}'])
})

test('an apply that differs only in what it resets has a time', () => {
  const kind = { ...thingKind, resetFields: () => makeFieldSet([['spec']]) }
  const made = thingOf({ metadata: { name: 'a' }, spec: { replicas: 1 }, status: { phase: 'up' } })
  const live = update(undefined, made, 'one')
  const timesOf = (replicas: number) => {
    const config = thingOf({ ...made, spec: { replicas } })
    const { managedFields = [] } = apply(live, config, 'two', { kind, force: true }).metadata
    return managedFields.filter(({ manager }) => manager === 'two').map(({ time }) => time)
  }
  assert.deepEqual(timesOf(2), [at(1)])
  assert.deepEqual(timesOf(1), [undefined])
})

test('an object without managers has none until the first apply', () => {
  const live = thingOf({ metadata: { name: 'a', uid: 'u' }, spec: { replicas: 1, paused: true } })
  assert.deepEqual(
    recordUpdate(thingKind, live, { ...live, spec: { replicas: 2 } }, writer('one')),
    [],
  )
  const applied = apply(live, thingOf({ spec: { replicas: 1 } }), 'one')
  assert.deepEqual(owners(applied.metadata.managedFields), [
    'one Apply {"f:spec":{"f:replicas":{}}}',
    'before-first-apply Update {"f:spec":{"f:paused":{},"f:replicas":{}}}',
  ])
  assert.equal(
    conflicts(live, thingOf({ spec: { replicas: 2 } }), 'one'),
    'Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.replicas',
  )
})

test('before 1.18 there is no owner until the first apply', () => {
  const early = { ...writer('one'), onlyOnceApplied: true }
  const made = withOwners(
    thingOf({ spec: { replicas: 1 } }),
    recordUpdate(thingKind, undefined, thingOf({ spec: { replicas: 1 } }), early),
  )
  assert.equal(made.metadata.managedFields, undefined)
  const applied = apply(made, thingOf({ spec: { paused: true } }), 'two')
  const next = { ...applied, spec: { ...applied.spec, replicas: 2 } }
  assert.deepEqual(owners(recordUpdate(thingKind, applied, next, early)), [
    'two Apply {"f:spec":{"f:paused":{}}}',
    'one Update {"f:spec":{"f:replicas":{}}}',
  ])
})

test('with more than ten Update entries, the oldest are merged', () => {
  let live = update(undefined, thingOf({ metadata: { name: 'a', labels: { n0: '' } } }), 'm0', 0)
  for (let i = 1; i < 12; i++) {
    const labels = { ...live.metadata.labels, [`n${i}`]: '' }
    live = update(
      live,
      { ...live, metadata: { ...live.metadata, labels } },
      `m${String.fromCharCode(96 + i)}`,
      i % 9,
    )
  }
  const entries = live.metadata.managedFields ?? []
  assert.equal(entries.length, 10)
  const folded = entries.find(({ manager }) => manager === 'ancient-changes')
  assert.deepEqual(Object.keys(folded?.fieldsV1?.['f:metadata']['f:labels']).sort(), [
    '.',
    'f:n0',
    'f:n1',
    'f:n9',
  ])
})

test('an apply creates the object, changes nothing when repeated, and removes dropped fields', () => {
  const config = thingOf({
    metadata: { name: 'a', labels: { a: '1' } },
    spec: { replicas: 1, containers: [{ name: 'c', image: 'i' }] },
  })
  const made = apply(undefined, config, 'one', { second: 1 })
  assert.deepEqual(owners(made.metadata.managedFields), [
    'one Apply {"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:image":{},"f:name":{}}},"f:replicas":{}}}',
  ])
  const again = apply(made, config, 'one', { second: 2 })
  assert.deepEqual(again, made)
  const less = apply(made, thingOf({ spec: { containers: [{ name: 'c' }] } }), 'one', { second: 3 })
  assert.deepEqual(less.spec, { containers: [{ name: 'c' }] })
  assert.equal(less.metadata.labels, undefined)
  assert.deepEqual(less.metadata.managedFields?.[0]?.time, at(3))
})

test('a field that another manager owns stays when one applier drops it', () => {
  let live = apply(undefined, thingOf({ spec: { replicas: 1, paused: true } }), 'one')
  live = apply(live, thingOf({ spec: { replicas: 1 } }), 'two')
  live = apply(live, thingOf({}), 'one')
  assert.deepEqual(live.spec.replicas, 1)
  assert.equal('paused' in live.spec, false)
  assert.deepEqual(owners(live.metadata.managedFields), ['two Apply {"f:spec":{"f:replicas":{}}}'])
})

test('conflicts name each field and its manager; force takes them over', () => {
  const base = apply(
    undefined,
    thingOf({ spec: { replicas: 1, args: ['x'], containers: [{ name: 'c', image: 'i' }] } }),
    'one',
  )
  const config = thingOf({
    spec: { replicas: 2, args: ['y'], containers: [{ name: 'c', image: 'j' }] },
  })
  assert.equal(
    conflicts(base, config, 'two'),
    'Apply failed with 3 conflicts: conflicts with "one":\n- .spec.args\n- .spec.replicas\n- .spec.containers[name="c"].image',
  )
  const forced = apply(base, config, 'two', { force: true })
  assert.equal(forced.spec.replicas, 2)
  assert.deepEqual(
    owners(forced.metadata.managedFields)[0],
    'one Apply {"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:name":{}}}}}',
  )
})

test('an equal value is shared without conflict', () => {
  let live = update(undefined, thingOf({ spec: { replicas: 1 } }), 'one')
  live = apply(live, thingOf({ spec: { replicas: 1 } }), 'two')
  assert.deepEqual(owners(live.metadata.managedFields), [
    'two Apply {"f:spec":{"f:replicas":{}}}',
    'one Update {"f:spec":{"f:replicas":{}}}',
  ])
})

test('fields of other managers stay in an apply', () => {
  let live = apply(undefined, thingOf({ spec: { containers: [{ name: 'c', image: 'i' }] } }), 'one')
  live = update(
    live,
    { ...live, spec: { containers: [{ name: 'c', image: 'i', command: ['x'] }], paused: true } },
    'defaults',
  )
  live = apply(live, thingOf({ spec: { containers: [{ name: 'c' }] } }), 'one')
  assert.deepEqual(live.spec, { containers: [{ name: 'c', command: ['x'] }], paused: true })
})

test('items keep their order; new ones are placed as in the configuration', () => {
  const named = (...names: string[]) => ({ spec: { containers: names.map((name) => ({ name })) } })
  const merged = (live: string[], config: string[]) => {
    const base = update(undefined, thingOf(named(...live)), 'one')
    return apply(base, thingOf(named(...config)), 'two')
      .spec.containers.map(({ name }: { name: string }) => name)
      .join('')
  }
  assert.equal(merged(['a', 'b', 'c'], ['b', 'x', 'c']), 'abxc')
  assert.equal(merged(['a', 'b', 'c'], ['c', 'a']), 'abc', 'another order alone is no change')
  assert.equal(merged(['a', 'b', 'c'], ['c', 'a', 'x']), 'bcax')
  assert.equal(merged(['a', 'b'], ['x', 'y']), 'abxy')
})

const errors: [what: string, config: Record<string, unknown>, code: number, message: string][] = [
  ['no version', { apiVersion: undefined }, 400, 'invalid object type: /, Kind='],
  ['another version', { apiVersion: 'v2' }, 400, 'invalid object type: /v2, Kind=Thing'],
  [
    'managedFields',
    { metadata: { name: 'a', managedFields: [] } },
    400,
    'metadata.managedFields must be nil',
  ],
  ['no kind', { kind: null }, 400, 'invalid object type: example.com/v1, Kind='],
  ['another kind', { kind: 'Other' }, 400, 'invalid object type: example.com/v1, Kind=Other'],
  [
    'an unknown field',
    { spec: { nope: 1 } },
    500,
    'failed to create typed patch object (/a; example.com/v1, Kind=Thing): .spec.nope: field not declared in schema',
  ],
  [
    'text for a number',
    { spec: { replicas: 'x' } },
    500,
    'failed to create typed patch object (/a; example.com/v1, Kind=Thing): .spec.replicas: expected numeric (int or float), got string',
  ],
  [
    'a number for text',
    { metadata: { name: 1 } },
    500,
    'failed to create typed patch object (/; example.com/v1, Kind=Thing): .metadata.name: expected string, got &value.valueUnstructured{Value:1}',
  ],
  [
    'text for a list',
    { spec: { args: 'x' } },
    500,
    'failed to create typed patch object (/a; example.com/v1, Kind=Thing): .spec.args: expected list, got &{x}',
  ],
  [
    'text with a percent sign for a list',
    { spec: { args: '5% d' } },
    500,
    'failed to create typed patch object (/a; example.com/v1, Kind=Thing): .spec.args: expected list, got &{5%!d(MISSING)}',
  ],
  [
    'a list for a map',
    { spec: [1] },
    500,
    'failed to create typed patch object (/a; example.com/v1, Kind=Thing): .spec: expected map, got &{[1]}',
  ],
  [
    'text for a boolean',
    { spec: { paused: 'x' } },
    500,
    'failed to create typed patch object (/a; example.com/v1, Kind=Thing): .spec.paused: expected boolean, got &{x}',
  ],
  [
    'a key twice',
    { spec: { containers: [{ name: 'a' }, { name: 'a' }] } },
    500,
    'failed to create typed patch object (/a; example.com/v1, Kind=Thing): .spec.containers: duplicate entries for key [name="a"]',
  ],
  [
    'a value twice',
    { metadata: { finalizers: ['a', 'a'] } },
    500,
    'failed to create typed patch object (/; example.com/v1, Kind=Thing): .metadata.finalizers: duplicate entries for key [="a"]',
  ],
  [
    'no item',
    { spec: { containers: [null] } },
    500,
    'failed to create typed patch object (/a; example.com/v1, Kind=Thing): .spec.containers: element 0: associative list with keys may not have a null element',
  ],
  [
    'two problems',
    { spec: { replicas: 'x', containers: [{ name: 'a', image: 1 }] } },
    500,
    'failed to create typed patch object (/a; example.com/v1, Kind=Thing): errors:\n  .spec.replicas: expected numeric (int or float), got string\n  .spec.containers[name="a"].image: expected string, got &value.valueUnstructured{Value:1}',
  ],
]
for (const [what, config, code, message] of errors) {
  test(`an apply refuses ${what}`, () => {
    const attempt = () =>
      applyConfiguration(thingKind, undefined, thingOf(config), { ...writer('a'), force: false })
    assert.throws(attempt, { code, message })
  })
}

const typeFaults: [release: number, message: string][] = [
  [27, 'Incorrect version specified in apply patch. Specified patch version: v2, expected: '],
  [28, 'invalid object type: /v2, Kind=Thing'],
]
for (const [release, message] of typeFaults)
  test(`1.${release}: an apply of another version`, () => {
    const kind = { ...thingKind, release }
    const config = thingOf({ apiVersion: 'v2' })
    assert.throws(
      () => applyConfiguration(kind, undefined, config, { ...writer('a'), force: false }),
      (error: Error) => error.message.startsWith(message),
    )
  })

const namedFaults: [release: number, message: string][] = [
  [22, 'failed to create typed patch object: .spec.nope: field not declared in schema'],
  [
    23,
    'failed to create typed patch object (/a; example.com/v1, Kind=Thing): .spec.nope: field not declared in schema',
  ],
]
for (const [release, message] of namedFaults)
  test(`1.${release}: an apply of an unknown field`, () => {
    const kind = { ...thingKind, release }
    const config = thingOf({ spec: { nope: 1 } })
    const attempt = () =>
      applyConfiguration(kind, undefined, config, { ...writer('a'), force: false })
    assert.throws(attempt, { code: 500, message })
  })

test('an absent key has its default', () => {
  const live = apply(
    undefined,
    thingOf({ spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] } }),
    'one',
  )
  assert.match(
    owners(live.metadata.managedFields)[0] as string,
    /k:\{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"\}/,
  )
})

const older = struct('OldThing', [
  ...thing.fields.filter(({ name }) => name !== 'spec'),
  field('spec', struct('OldSpec', [field('copies', text, 'pointer')])),
])
const versioned: FieldManagerKind = {
  ...thingKind,
  typeFor: (version) => ({ 'example.com/v1': thing, 'example.com/old': older })[version],
  convert(object, version) {
    const { spec = {}, ...rest } = object
    return version === 'example.com/old'
      ? {
          ...rest,
          apiVersion: version,
          spec: spec.replicas === undefined ? {} : { copies: String(spec.replicas) },
        }
      : {
          ...rest,
          apiVersion: version,
          spec: spec.copies === undefined ? {} : { replicas: Number(spec.copies) },
        }
  },
}

test("managers of another version keep that version's names of a field", () => {
  const old = { ...versioned, apiVersion: 'example.com/old' }
  const made = apply(
    undefined,
    { ...thingOf({ spec: { copies: '1' } }), apiVersion: 'example.com/old' },
    'one',
    { kind: old },
  )
  const live = { ...versioned.convert(made, 'example.com/v1') } as KubeObject
  assert.deepEqual(owners(live.metadata.managedFields), ['one Apply {"f:spec":{"f:copies":{}}}'])
  const outcome = applyConfiguration(versioned, live, thingOf({ spec: { replicas: 2 } }), {
    ...writer('two'),
    force: false,
  })
  assert.ok('conflicts' in outcome)
  assert.equal(
    conflictMessage(outcome.conflicts),
    'Apply failed with 1 conflict: conflict with "one": .spec.copies',
  )
  const dropped = apply(live, thingOf({}), 'one', { kind: versioned })
  assert.deepEqual(dropped.metadata.managedFields, undefined)
  assert.equal(dropped.spec?.replicas, undefined)
})

test('managers with a removed version own nothing', () => {
  const entry = {
    manager: 'x',
    operation: 'Update',
    apiVersion: 'example.com/v0',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': {} },
  }
  const live = thingOf({
    metadata: { name: 'a', uid: 'u', managedFields: [entry] },
    spec: { replicas: 1 },
  })
  assert.deepEqual(
    owners(recordUpdate(thingKind, live, { ...live, spec: { replicas: 2 } }, writer('one'))),
    ['one Update {"f:spec":{"f:replicas":{}}}'],
  )
})

const kindOf = (spec: Struct): FieldManagerKind => {
  const type = struct('T', [
    ...thing.fields.filter(({ name }) => name !== 'spec'),
    field('spec', spec),
  ])
  return { ...thingKind, typeFor: () => type }
}

test('a map of untyped values keeps its field sets when it becomes atomic', () => {
  const specOf = (atomic: boolean) =>
    struct('Any', [field('nodeSelector', dict({ is: 'scalar', scalar: 'any' }, atomic))])
  const live = apply(undefined, thingOf({ spec: { nodeSelector: { a: 1 } } }), 'one', {
    kind: kindOf(specOf(false)),
  })
  const next = apply(live, thingOf({ metadata: { name: 'a', labels: { b: 'c' } } }), 'two', {
    kind: kindOf(specOf(true)),
  })
  assert.deepEqual(owners(next.metadata.managedFields), [
    'one Apply {"f:spec":{"f:nodeSelector":{"f:a":{}}}}',
    'two Apply {"f:metadata":{"f:labels":{"f:b":{}}}}',
  ])
})

test('the manager of a part of an atomic map or list owns all of it', () => {
  const wholeSpec = struct('Whole', [
    field('nodeSelector', dict(text, true)),
    field('args', atomicList(text)),
  ])
  const partSpec = struct('Part', [
    field('nodeSelector', dict(text)),
    field('args', listBy(['name'], struct('Arg', [field('name', text)]))),
  ])
  const live = apply(undefined, thingOf({ spec: { nodeSelector: { a: '1' } } }), 'one', {
    kind: kindOf(partSpec),
  })
  const outcome = applyConfiguration(
    kindOf(wholeSpec),
    live,
    thingOf({ spec: { nodeSelector: { b: '2' } } }),
    { ...writer('two'), force: false },
  )
  assert.ok('conflicts' in outcome)
  assert.equal(
    conflictMessage(outcome.conflicts),
    'Apply failed with 1 conflict: conflict with "one": .spec.nodeSelector',
  )
  const whole = apply(undefined, thingOf({ spec: { nodeSelector: { a: '1' } } }), 'one', {
    kind: kindOf(wholeSpec),
  })
  const freed = apply(whole, thingOf({ spec: { nodeSelector: { b: '2' } } }), 'two', {
    kind: kindOf(partSpec),
  })
  assert.deepEqual(freed.spec.nodeSelector, { a: '1', b: '2' })
})

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'

test('fields of client-side apply are handed over to the same tool, and its annotation is updated', () => {
  const before = thingOf({ spec: { replicas: 1, paused: true } })
  const annotated = {
    ...before,
    metadata: { name: 'a', annotations: { [annotation]: JSON.stringify(before) } },
  }
  const live = update(undefined, annotated, 'kubectl-client-side-apply')
  const config = thingOf({ spec: { replicas: 2 } })
  assert.match(
    conflicts(live, config, 'other'),
    /1 conflict: conflict with "kubectl-client-side-apply" using/,
  )
  const taken = apply(live, config, 'kubectl')
  assert.equal(taken.spec.replicas, 2)
  assert.equal(
    taken.metadata.annotations?.[annotation],
    '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"replicas":2}}\n',
  )
})

test('a field that has changed since client-side apply is not handed over', () => {
  const before = thingOf({ spec: { replicas: 1, paused: true } })
  const annotated = {
    ...before,
    metadata: { name: 'a', annotations: { [annotation]: JSON.stringify(before) } },
  }
  let live = update(undefined, annotated, 'client')
  live = update(live, { ...live, spec: { replicas: 5, paused: true } }, 'scaler')
  assert.equal(
    conflicts(live, thingOf({ spec: { replicas: 2, paused: true } }), 'kubectl'),
    'Apply failed with 1 conflict: conflict with "scaler" using example.com/v1: .spec.replicas',
  )
})

test('names of inherited members are ordinary names', () => {
  const labels = JSON.parse('{"__proto__":"1","constructor":"2"}')
  const live = apply(undefined, thingOf({ metadata: { name: 'a', labels } }), 'one')
  assert.deepEqual(Object.keys(live.metadata.labels ?? {}), ['__proto__', 'constructor'])
  const created = recordUpdate(thingKind, undefined, live, writer('two'))
  assert.deepEqual(created[0]?.fieldsV1, {
    'f:metadata': { 'f:labels': { '.': {}, 'f:__proto__': {}, 'f:constructor': {} } },
  })
  const less = apply(
    live,
    thingOf({ metadata: { name: 'a', labels: JSON.parse('{"__proto__":"1"}') } }),
    'one',
  )
  assert.deepEqual(Object.keys(less.metadata.labels ?? {}), ['__proto__'])
})

test('arguments are not changed', () => {
  const freeze = <T>(value: T): T => {
    if (value !== null && typeof value === 'object')
      for (const part of Object.values(Object.freeze(value))) freeze(part)
    return value
  }
  const live = freeze(
    apply(undefined, thingOf({ spec: { replicas: 1, containers: [{ name: 'c' }] } }), 'one'),
  )
  freeze(apply(live, freeze(thingOf({ spec: { containers: [{ name: 'd' }] } })), 'one'))
  recordUpdate(thingKind, live, freeze({ ...live, spec: { replicas: 3 } }), writer('two'))
})

test("fields of a custom object that does not fit a manager's version have no owner", () => {
  const shape = (name: string) =>
    ({
      ...struct('', [
        field('apiVersion', text),
        field('kind', text),
        field('metadata', dict(text)),
        field(name, text),
      ]),
      name: '',
    }) as Type
  const types: Record<string, Type> = { 'x.io/v1': shape('a'), 'x.io/v2': shape('b') }
  const kind: FieldManagerKind = {
    apiVersion: 'x.io/v1',
    typeFor: (apiVersion) => types[apiVersion],
    convert: (object, apiVersion) => ({ ...object, apiVersion }),
    resetFields: () => undefined,
  }
  const entry: ManagedFieldsEntry = {
    manager: 'other',
    operation: 'Apply',
    apiVersion: 'x.io/v2',
    time: at(1),
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:b': {} },
  }
  const head = { apiVersion: 'x.io/v1', kind: 'Gear' }
  const live = { ...head, metadata: { uid: 'u', managedFields: [entry] } } as KubeObject
  const next = { ...live, a: 'x' } as KubeObject
  assert.deepEqual(recordUpdate({ ...kind, release: 36 }, live, next, writer('me')), [])
  const misfit = { ...head, metadata: {}, a: [] } as unknown as KubeObject
  assert.deepEqual(recordUpdate(kind, undefined, misfit, writer('me')), [])
  assert.throws(
    () =>
      applyConfiguration(kind, live, { ...head, a: 'x' } as never, {
        ...writer('me'),
        force: false,
      }),
    { message: 'failed to convert new object: .a: field not declared in schema' },
  )
})

test('an apply whose result cannot be converted names the configuration, not the live object', () => {
  const spec = struct('Timed', [field('time', { is: 'scalar', scalar: 'microTime' })])
  const type = struct('Thing', [
    ...thing.fields.filter(({ name }) => name !== 'spec'),
    field('spec', spec),
  ])
  const kind: FieldManagerKind = { ...thingKind, typeFor: () => type }
  const live = thingOf({ metadata: { name: 'a', namespace: 'n', uid: 'u' } })
  const config = thingOf({ spec: { time: 'now' } })
  assert.throws(() => applyConfiguration(kind, live, config, { ...writer('me'), force: false }), {
    message:
      /^failed to convert new object \(\/a; example\.com\/v1, Kind=Thing\) to proper version: /,
  })
})

test('a granular field is owned member by member, although its type is atomic', () => {
  const reference = struct('Reference', [field('name', text), field('kind', text)], {
    atomic: true,
  })
  const spec = struct('Spec', [
    field('claimRef', reference, 'pointer', { granular: true }),
    field('otherRef', reference, 'pointer'),
  ])
  const others = thing.fields.filter(({ name }) => name !== 'spec')
  const type = struct('Thing', [...others, field('spec', spec)])
  const kind: FieldManagerKind = { ...thingKind, typeFor: () => type }
  const config = thingOf({ spec: { claimRef: { name: 'c' }, otherRef: { name: 'o' } } })
  const owned = { 'f:spec': { 'f:claimRef': { 'f:name': {} }, 'f:otherRef': {} } }
  const applied = applyConfiguration(kind, undefined, config, { ...writer('one'), force: false })
  assert.ok('object' in applied)
  assert.deepEqual(applied.object.metadata.managedFields?.[0]?.fieldsV1, owned)

  const updated = recordUpdate(kind, undefined, config, writer('two'))
  const claimed = { 'f:claimRef': { '.': {}, 'f:name': {} }, 'f:otherRef': {} }
  assert.deepEqual(updated[0]?.fieldsV1, { 'f:spec': claimed })
})
