/** Ownership and apply in the last release before each change of their rules, and in the first. */
import { type BoundaryRow, checkBoundaries } from '#api/releases/boundary.suite.ts'
import type { Json, KubeObject, ManagedFieldsEntry } from '#api/object-meta.ts'
import type { Type } from '#schema/type.ts'
import { conflictMessage } from './conflict.ts'
import { applyConfiguration, type FieldManagerKind, recordUpdate } from './field-manager.ts'
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
const ownedBy = (object: KubeObject, managedFields: ManagedFieldsEntry[]): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, uid: 'u', managedFields },
})

/** `one Apply {"f:spec":{}}` per entry. */
const owners = (entries: ManagedFieldsEntry[] | undefined): string[] =>
  (entries ?? []).map(
    ({ manager, operation, fieldsV1 }) => `${manager} ${operation} ${JSON.stringify(fieldsV1)}`,
  )

function update(
  kind: FieldManagerKind,
  live: KubeObject | undefined,
  next: KubeObject,
  manager: string,
  second = 1,
): KubeObject {
  const who = { manager, subresource: '', now: at(second) }
  return ownedBy(next, recordUpdate(kind, live, next, who))
}

/** The object after an apply, or the message of its conflicts. */
function tryApply(
  kind: FieldManagerKind,
  live: KubeObject | undefined,
  config: KubeObject,
  manager = 'one',
  second = 1,
): KubeObject | string {
  const who = { manager, subresource: '', now: at(second), force: false }
  const outcome = applyConfiguration(kind, live, config, who)
  return 'conflicts' in outcome ? conflictMessage(outcome.conflicts) : outcome.object
}

const apply = (...given: Parameters<typeof tryApply>): KubeObject =>
  tryApply(...given) as KubeObject

/** The message of an apply that fails. */
function errorOf(kind: FieldManagerKind, spec: Json): string | undefined {
  try {
    apply(kind, undefined, thingOf({ spec }))
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const withContainers = (...containers: Json[]) => thingOf({ spec: { containers } })
const kindOf = (kind: FieldManagerKind, spec: Type): FieldManagerKind => {
  const others = thing.fields.filter(({ name }) => name !== 'spec')
  const type = struct('Thing', [...others, field('spec', spec)])
  return { ...kind, typeFor: () => type }
}

const partSpec = struct('Part', [
  field('nodeSelector', dict(text)),
  field('args', listBy(['name'], struct('Arg', [field('name', text)]))),
])
const wholeSpec = struct('Whole', [
  field('nodeSelector', dict(text, true)),
  field('args', atomicList(text)),
])
const annotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** What happens in a release: each returns the part of the result that differs. */
const stories = {
  'a first apply to an object without owners': (kind) => {
    const live = thingOf({ spec: { replicas: 1 }, status: { observed: 0 } })
    const { metadata } = apply(kind, live, thingOf({ spec: { paused: true } }))
    return owners(metadata.managedFields).filter((owner) => owner.startsWith('before'))
  },
  'an update with items of the same key': (kind) => {
    const live = update(kind, undefined, thingOf({ spec: { replicas: 1 } }), 'one')
    const next = withContainers({ name: 'a' }, { name: 'a' })
    const { managedFields } = live.metadata
    const written = { ...next, metadata: { ...next.metadata, managedFields } } as KubeObject
    return owners(update(kind, live, written, 'two').metadata.managedFields)
  },
  'twelve updaters': (kind) => {
    let live = update(kind, undefined, thingOf({ metadata: { name: 'a', labels: {} } }), 'm')
    for (let i = 0; i < 12; i++) {
      const labels = { ...live.metadata.labels, [`n${i}`]: '' }
      live = update(kind, live, { ...live, metadata: { ...live.metadata, labels } }, `m${i}`)
    }
    return live.metadata.managedFields?.length
  },
  'a struct that its applier drops': (kind) => {
    const live = apply(kind, undefined, thingOf({ spec: { security: {}, replicas: 1 } }))
    return apply(kind, live, thingOf({ spec: { replicas: 1 } })).spec.security
  },
  'an apply that changes nothing': (kind) => {
    const config = thingOf({ spec: { replicas: 1 } })
    const live = update(kind, undefined, thingOf({ spec: { replicas: 1, paused: true } }), 'two')
    const first = apply(kind, live, config, 'one', 2)
    return apply(kind, first, config, 'one', 3).metadata.managedFields?.[0]?.time
  },
  'two wrong fields': (kind) => errorOf(kind, { nope: 1, paused: 'x' }),
  'a text for a number': (kind) => errorOf(kind, { replicas: 'x' }),
  'an item without a key that has a default': (kind) =>
    errorOf(kind, { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] }),
  'an item that leaves out one of two keys': (kind) => {
    const item = struct('Device', [field('pool', text), field('share', text, 'pointer')])
    const spec = struct('Devices', [field('devices', listBy(['pool', 'share'], item))])
    const devices = [{ pool: 'a', share: 'b' }, { pool: 'a' }]
    try {
      const live = apply(kindOf(kind, spec), undefined, thingOf({ spec: { devices } }))
      return owners(live.metadata.managedFields)
    } catch (error) {
      return (error as Error).message
    }
  },
  'an item that leaves out all keys': (kind) => {
    const spec = struct('Devices', [
      field('devices', listBy(['pool', 'share'], struct('Device', [field('pool', text)]))),
    ])
    return errorOf(kindOf(kind, spec), { devices: [{}] })
  },
  'an owner of a part of a map that became atomic': (kind) => {
    const config = thingOf({ spec: { nodeSelector: { a: '1' } } })
    const live = apply(kindOf(kind, partSpec), undefined, config)
    const labels = thingOf({ metadata: { name: 'a', labels: { b: 'c' } } })
    const { metadata } = apply(kindOf(kind, wholeSpec), live, labels, 'two')
    return owners(metadata.managedFields).filter((owner) => owner.startsWith('one'))
  },
  'an apply by kubectl over its client-side apply': (kind) => {
    const before = thingOf({ spec: { replicas: 1 } })
    const annotations = { [annotation]: JSON.stringify(before) }
    const annotated = { ...before, metadata: { name: 'a', annotations } } as KubeObject
    const live = update(kind, undefined, annotated, 'client')
    const applied = tryApply(kind, live, thingOf({ spec: { replicas: 2 } }), 'kubectl')
    return typeof applied === 'string' ? applied : applied.spec
  },
  'a quantity that is a number': (kind) =>
    errorOf(kind, { containers: [{ name: 'c', resources: { limits: { cpu: 1 } } }] }),
  'a new item between live ones': (kind) => {
    const names = (...all: string[]) => withContainers(...all.map((name) => ({ name })))
    const live = update(kind, undefined, names('a', 'b'), 'two')
    const { spec } = apply(kind, live, names('a', 'x', 'b'))
    return spec.containers.map(({ name }: { name: string }) => name).join('')
  },
  'two conflicts in one item': (kind) => {
    const item = (text: string) => withContainers({ name: 'c', image: text, command: [text] })
    const live = update(kind, undefined, item('a'), 'two')
    return String(tryApply(kind, live, item('b')))
      .split('\n')
      .slice(1)
  },
} satisfies Record<string, (kind: FieldManagerKind) => unknown>

type Story = keyof typeof stories
const row = (
  story: Story,
  boundary: [number, number],
  before: unknown,
  since: unknown,
): BoundaryRow<Story, unknown> => [story, boundary, story, before, since]
const failedNamed = 'failed to create typed patch object (/a; example.com/v1, Kind=Thing): '
const failed = 'failed to create typed patch object: '
const number = `${failed}.spec.replicas: expected numeric (int or float), got`

checkBoundaries<Story, unknown>(
  (release, story) => stories[story]({ ...thingKind, release }),
  [
    row(
      'a first apply to an object without owners',
      [16, 17],
      ['before-first-apply Update {"f:spec":{"f:replicas":{}},"f:status":{"f:observed":{}}}'],
      ['before-first-apply Update {"f:spec":{"f:replicas":{}}}'],
    ),
    row(
      'an update with items of the same key',
      [16, 17],
      ['one Update {"f:spec":{"f:replicas":{}}}'],
      [],
    ),
    row('twelve updaters', [16, 17], 13, 10),
    row('a struct that its applier drops', [17, 18], {}, undefined),
    row('an apply that changes nothing', [17, 18], at(3), at(2)),
    row(
      'two wrong fields',
      [17, 18],
      `${failed}errors:
  .spec.nope: field not declared in schema
  .spec.paused: expected boolean, got "x"`,
      `${failed}.spec.nope: field not declared in schema`,
    ),
    row('a text for a number', [18, 19], `${number} *value.valueUnstructured`, `${number} string`),
    row(
      'an item without a key that has a default',
      [18, 19],
      `${failed}.spec.containers[name="c"].ports: element 0: associative list with keys has an element that omits key field "protocol"`,
      undefined,
    ),
    row(
      'an item that leaves out one of two keys',
      [33, 34],
      `${failedNamed}.spec.devices: element 1: associative list with keys has an element that omits key field "share" (and doesn't have default value)`,
      [
        'one Apply {"f:spec":{"f:devices":{"k:{\\"pool\\":\\"a\\"}":{".":{},"f:pool":{}},"k:{\\"pool\\":\\"a\\",\\"share\\":\\"b\\"}":{".":{},"f:pool":{},"f:share":{}}}}}',
      ],
    ),
    row(
      'an item that leaves out all keys',
      [33, 34],
      `${failedNamed}.spec.devices: element 0: associative list with keys has an element that omits key field "pool" (and doesn't have default value)`,
      `${failedNamed}.spec.devices: element 0: associative list with keys has an element that omits all key fields ["pool" "share"] (and doesn't have default values for any key fields)`,
    ),
    row(
      'an owner of a part of a map that became atomic',
      [18, 19],
      ['one Apply {"f:spec":{"f:nodeSelector":{"f:a":{}}}}'],
      ['one Apply {"f:spec":{"f:nodeSelector":{}}}'],
    ),
    row(
      'an apply by kubectl over its client-side apply',
      [18, 19],
      'Apply failed with 1 conflict: conflict with "client" using example.com/v1: .spec.replicas',
      { replicas: 2 },
    ),
    row(
      'a quantity that is a number',
      [20, 21],
      `${failed}.spec.containers[name="c"].resources.limits.cpu: expected string, got &value.valueUnstructured{Value:1}`,
      undefined,
    ),
    row('a new item between live ones', [20, 21], 'abx', 'axb'),
    row(
      'two conflicts in one item',
      [28, 29],
      ['- .spec.containers[name="c"].image', '- .spec.containers[name="c"].image'],
      ['- .spec.containers[name="c"].command', '- .spec.containers[name="c"].image'],
    ),
  ],
)
