import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { acceptNames } from './names.ts'
import { settle } from './settle.ts'

const now = '2020-01-01T00:00:00Z'
const accepted = (plural: string, kind: string, more: Loose = {}) => ({
  plural,
  singular: kind.toLowerCase(),
  kind,
  listKind: `${kind}List`,
  ...more,
})

function definition(names: Loose, status?: Loose, spec: Loose = {}): KubeObject {
  return {
    metadata: { name: `${names.plural}.example.com` },
    spec: {
      group: 'example.com',
      names,
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
      ...spec,
    },
    status: status ?? {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: ['v1'],
    },
  }
}

test('a new definition is accepted and established', () => {
  const made = definition(accepted('gears', 'Gear', { shortNames: ['g'] }))
  const { status } = settle(made, [made], now) as KubeObject
  assert.deepEqual(status.acceptedNames, {
    plural: 'gears',
    singular: 'gear',
    shortNames: ['g'],
    kind: 'Gear',
    listKind: 'GearList',
  })
  assert.deepEqual(
    status.conditions.map((one: Loose) => [
      one.type,
      one.status,
      one.reason,
      one.lastTransitionTime,
    ]),
    [
      ['NamesAccepted', 'True', 'NoConflicts', now],
      ['Established', 'True', 'InitialNamesAccepted', now],
    ],
  )
  assert.equal(
    settle({ ...made, status }, [{ ...made, status }], 'later'),
    undefined,
    'and then left alone',
  )
})

const first = definition(accepted('gears', 'Gear'), {
  acceptedNames: accepted('gears', 'Gear', { shortNames: ['g'] }),
})

test('names of others in the group are not given twice', () => {
  const second = definition(accepted('wheels', 'Gear', { shortNames: ['g', 'w'] }))
  const { names, condition } = acceptNames(second, [first, second])
  assert.deepEqual(names, { plural: 'wheels', kind: '' })
  assert.deepEqual(
    [condition.status, condition.reason, condition.message],
    ['False', 'ListKindConflict', '"GearList" is already in use'],
  )
  const { status } = settle(second, [first, second], now) as KubeObject
  assert.equal(status.conditions[1].reason, 'NotAccepted')
})

test('once they are free they are given', () => {
  const second = definition(accepted('wheels', 'Gear'), {
    conditions: [
      {
        type: 'Established',
        status: 'False',
        reason: 'NotAccepted',
        message: '',
        lastTransitionTime: now,
      },
    ],
    acceptedNames: { plural: 'wheels', kind: '' },
    storedVersions: ['v1'],
  })
  const { status } = settle(second, [second], 'later') as KubeObject
  assert.equal(status.acceptedNames.kind, 'Gear')
  assert.equal(status.conditions[0].status, 'True')
  assert.equal(status.conditions[0].lastTransitionTime, 'later')
})

test('schemas of old are told from structural ones', () => {
  const made = definition(accepted('gears', 'Gear'), undefined, { preserveUnknownFields: true })
  const { status } = settle(made, [made], now) as KubeObject
  assert.deepEqual(
    status.conditions
      .filter((one: Loose) => one.type === 'NonStructuralSchema')
      .map((one: Loose) => one.message),
    ['spec.preserveUnknownFields: Invalid value: true: must be false'],
  )
})

test('groups of Kubernetes itself need approval', () => {
  const made = definition(accepted('gears', 'Gear'), undefined, { group: 'x.k8s.io' })
  made.metadata.annotations = { 'api-approved.kubernetes.io': 'https://example.com/1' }
  const { status } = settle(made, [made], now) as KubeObject
  assert.equal(status.conditions[0].reason, 'ApprovedAnnotation')
})
