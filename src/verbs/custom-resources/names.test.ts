/** Which names a definition gets among others of its group, and the conditions that report this. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { isTrue, removeCondition, sameCondition, setCondition } from './conditions.ts'
import { acceptNames } from './names.ts'

const definition = (names: Loose, acceptedNames?: Loose): KubeObject =>
  ({
    metadata: { name: `${names.plural}.example.com` },
    spec: { names },
    status: acceptedNames === undefined ? {} : { acceptedNames },
  }) as unknown as KubeObject

const widgets = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
const other = (names: Loose) => definition(names, names)

const cases: [
  what: string,
  requested: Loose,
  had: Loose | undefined,
  others: Loose[],
  reason: string,
  got: Loose,
][] = [
  ['alone', widgets, undefined, [], 'NoConflicts', widgets],
  ['already accepted', widgets, widgets, [], 'NoConflicts', widgets],
  [
    'a plural that is another’s singular',
    widgets,
    undefined,
    [{ plural: 'x', singular: 'widgets', kind: 'X', listKind: 'XList' }],
    'PluralConflict',
    { ...widgets, plural: '' },
  ],
  [
    'a kind that is another’s list',
    widgets,
    undefined,
    [{ plural: 'x', singular: 'xx', kind: 'X', listKind: 'Widget' }],
    'KindConflict',
    { ...widgets, kind: '' },
  ],
  [
    'a list kind that is taken',
    widgets,
    undefined,
    [{ plural: 'x', singular: 'xx', kind: 'WidgetList', listKind: 'XList' }],
    'ListKindConflict',
    { plural: 'widgets', singular: 'widget', kind: 'Widget' },
  ],
  [
    'short names, one of them taken',
    { ...widgets, shortNames: ['w', 'x'] },
    undefined,
    [{ plural: 'x', singular: 'xx', kind: 'X', listKind: 'XList' }],
    'ShortNamesConflict',
    widgets,
  ],
  [
    'short names that are free',
    { ...widgets, shortNames: ['w'], categories: ['all'] },
    undefined,
    [],
    'NoConflicts',
    { ...widgets, shortNames: ['w'], categories: ['all'] },
  ],
  ['short names given up', widgets, { ...widgets, shortNames: ['w'] }, [], 'NoConflicts', widgets],
  [
    'a new name that is taken: the old one stays',
    { ...widgets, singular: 'x' },
    widgets,
    [{ plural: 'x', singular: 'xx', kind: 'X', listKind: 'XList' }],
    'SingularConflict',
    widgets,
  ],
]
for (const [what, requested, had, others, reason, got] of cases) {
  test(`names: ${what}: ${reason}`, () => {
    const own = definition(requested, had)
    const { names, condition } = acceptNames(own, [own, ...others.map(other)])
    assert.equal(condition.reason, reason)
    assert.equal(condition.status, reason === 'NoConflicts' ? 'True' : 'False')
    assert.deepEqual(names, got)
  })
}

test('several conflicting short names are reported together', () => {
  const own = definition({ ...widgets, shortNames: ['x', 'xx'] })
  const { condition } = acceptNames(own, [own, other({ plural: 'x', singular: 'xx', kind: 'X' })])
  assert.equal(condition.message, '["x" is already in use, "xx" is already in use]')
})

test('a condition keeps its transition time until its status changes', () => {
  const own = definition(widgets)
  const condition = { type: 'A', status: 'True', reason: 'R', message: 'm' } as const
  setCondition(own, condition, 't1')
  setCondition(own, { ...condition, message: 'n' }, 't2')
  assert.deepEqual(own.status.conditions, [
    { ...condition, message: 'n', lastTransitionTime: 't1' },
  ])
  assert.ok(isTrue(own, 'A'))
  setCondition(own, { ...condition, status: 'False' }, 't3')
  assert.equal(own.status.conditions[0].lastTransitionTime, 't3')
  assert.ok(!isTrue(own, 'A') && !isTrue(own, 'B'))
  assert.ok(sameCondition({ ...condition, status: 'False' }, own.status.conditions[0]))
  assert.ok(!sameCondition(condition, own.status.conditions[0]))
  assert.ok(!sameCondition(condition, undefined) && sameCondition(undefined, undefined))
  removeCondition(own, 'A')
  assert.deepEqual(own.status.conditions, [])
})
