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
  const { status } = settle(made, [made], now, 22) as KubeObject
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
    settle({ ...made, status }, [{ ...made, status }], 'later', 22),
    undefined,
    'and then left alone',
  )
})

const first = definition(accepted('gears', 'Gear'), {
  acceptedNames: accepted('gears', 'Gear', { shortNames: ['g'] }),
})

test('names of other definitions in the group are not accepted', () => {
  const second = definition(accepted('wheels', 'Gear', { shortNames: ['g', 'w'] }))
  const { names, condition } = acceptNames(second, [first, second])
  assert.deepEqual(names, { plural: 'wheels', kind: '' })
  assert.deepEqual(
    [condition.status, condition.reason, condition.message],
    ['False', 'ListKindConflict', '"GearList" is already in use'],
  )
  const { status } = settle(second, [first, second], now, 22) as KubeObject
  assert.equal(status.conditions[1].reason, 'NotAccepted')
})

/**
 * The requested names besides `gears`, `gear`, `g`, `Gear` and `GearList`; the last conflict is
 * reported.
 */
const conflicts: [requested: Loose, reason: string, message: string][] = [
  [{ plural: 'gears' }, 'PluralConflict', '"gears" is already in use'],
  [{ singular: 'gear' }, 'SingularConflict', '"gear" is already in use'],
  [{ shortNames: ['g'] }, 'ShortNamesConflict', '"g" is already in use'],
  [
    { shortNames: ['g', 'gear', 'w'] },
    'ShortNamesConflict',
    '["g" is already in use, "gear" is already in use]',
  ],
  [{ kind: 'Gear' }, 'KindConflict', '"Gear" is already in use'],
  [{ listKind: 'GearList' }, 'ListKindConflict', '"GearList" is already in use'],
  [{ singular: 'g', kind: 'GearList' }, 'KindConflict', '"GearList" is already in use'],
  [{}, 'NoConflicts', 'no conflicts found'],
]
for (const [requested, reason, message] of conflicts) {
  test(`names ${JSON.stringify(requested)}: ${reason}`, () => {
    const second = definition({ ...accepted('wheels', 'Wheel'), ...requested })
    const { status } = settle(second, [first, second], now, 22) as KubeObject
    const [names, established] = status.conditions as Loose[]
    assert.deepEqual([names.reason, names.message], [reason, message])
    assert.deepEqual(
      [established.type, established.status, established.reason, established.message],
      reason === 'NoConflicts'
        ? ['Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted']
        : ['Established', 'False', 'NotAccepted', 'not all names are accepted'],
    )
  })
}

test('an established definition stays established, whatever names it requests', () => {
  const names = accepted('wheels', 'Wheel')
  const before = settle(definition(names), [first], now, 22) as KubeObject
  const second = definition({ ...names, shortNames: ['g'] }, before.status)
  const { status } = settle(second, [first, second], 'later', 22) as KubeObject
  assert.deepEqual(
    status.conditions.map((one: Loose) => [one.type, one.status, one.lastTransitionTime]),
    [
      ['NamesAccepted', 'False', 'later'],
      ['Established', 'True', now],
    ],
  )
})

test('free names are accepted', () => {
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
  const { status } = settle(second, [second], 'later', 22) as KubeObject
  assert.equal(status.acceptedNames.kind, 'Gear')
  assert.equal(status.conditions[0].status, 'True')
  assert.equal(status.conditions[0].lastTransitionTime, 'later')
})

const condition = (type: string, status: string) => ({
  type,
  status,
  reason: 'Some',
  message: '',
  lastTransitionTime: now,
})

/** Accepted names are not checked again, as in kube-apiserver. */
const kept: [why: string, conditions: Loose[] | null, after: string[] | undefined][] = [
  ['the status no longer has them', null, undefined],
  [
    'the conflict disappears with the requested name',
    [condition('NamesAccepted', 'False'), condition('Established', 'False')],
    undefined,
  ],
  [
    'they are accepted and not established',
    [condition('NamesAccepted', 'True')],
    ['Some', 'InitialNamesAccepted'],
  ],
]
for (const [why, conditions, after] of kept) {
  test(`names that are accepted stay as they are: ${why}`, () => {
    const names = accepted('gears', 'Gear')
    const acceptedNames = { ...names, shortNames: [] }
    const made = definition(names, { conditions, acceptedNames, storedVersions: ['v1'] })
    const settled = settle(made, [made], now, 22)
    assert.deepEqual(
      settled?.status.conditions.map(({ reason }: Loose) => reason),
      after,
    )
  })
}

test('nonstructural schemas are distinguished from structural ones', () => {
  const made = definition(accepted('gears', 'Gear'), undefined, { preserveUnknownFields: true })
  const { status } = settle(made, [made], now, 22) as KubeObject
  assert.deepEqual(
    status.conditions
      .filter((one: Loose) => one.type === 'NonStructuralSchema')
      .map((one: Loose) => one.message),
    ['spec.preserveUnknownFields: Invalid value: true: must be false'],
  )
})

const must = 'protected groups must have approval annotation "api-approved.kubernetes.io"'
const see = 'see https://github.com/kubernetes/enhancements/pull/1111'
const approvals: [given: string | undefined, status: string, reason: string, message: string][] = [
  ['https://example.com/1', 'True', 'ApprovedAnnotation', 'approved in https://example.com/1'],
  ['unapproved, trial', 'False', 'UnapprovedAnnotation', 'not approved: "unapproved, trial"'],
  [undefined, 'False', 'MissingAnnotation', `${must}, ${see}`],
  [
    'because',
    'False',
    'InvalidAnnotation',
    `${must} with either a URL or a reason starting with "unapproved", ${see}`,
  ],
]
test('before 1.16 groups of Kubernetes itself need no approval', () => {
  const made = definition(accepted('gears', 'Gear'), undefined, { group: 'x.k8s.io' })
  const { status } = settle(made, [made], now, 15) as KubeObject
  assert.deepEqual(
    status.conditions.map(({ type }: Loose) => type),
    ['NamesAccepted', 'Established'],
  )
})

const badVersion = (name: string, type?: string) => ({
  name,
  schema: { openAPIV3Schema: { ...(type && { type }) } },
})
const must1 = 'type: Required value: must not be empty at the root'
const must2 = 'type: Invalid value: "string": must be object at the root'
const oldSchemas: [release: number, versions: Loose[], message: string | undefined][] = [
  [15, [badVersion('v1', 'object')], undefined],
  [19, [badVersion('v1', 'object')], undefined],
  [
    20,
    [badVersion('v1', 'object')],
    'spec.preserveUnknownFields: Invalid value: true: must be false',
  ],
  [15, [badVersion('v1'), badVersion('v2')], `spec.validation.openAPIV3Schema.${must1}`],
  [
    16,
    [badVersion('v1'), badVersion('v2', 'string')],
    `[spec.version[v1].schema.openAPIV3Schema.${must1}, spec.version[v2].schema.openAPIV3Schema.${must2}]`,
  ],
  [17, [badVersion('v1')], `spec.versions[0].schema.openAPIV3Schema.${must1}`],
]
for (const [release, versions, message] of oldSchemas) {
  test(`schemas of the old form in 1.${release}: ${JSON.stringify(versions)}`, () => {
    const names = accepted('gears', 'Gear')
    const made = definition(names, undefined, { preserveUnknownFields: true, versions })
    const { status } = settle(made, [made], now, release) as KubeObject
    const found = status.conditions.find(({ type }: Loose) => type === 'NonStructuralSchema')
    assert.equal(found?.message, message)
  })
}

for (const [given, ...wanted] of approvals) {
  test(`groups of Kubernetes itself need approval: ${given}`, () => {
    const made = definition(accepted('gears', 'Gear'), undefined, { group: 'x.k8s.io' })
    if (given !== undefined) made.metadata.annotations = { 'api-approved.kubernetes.io': given }
    const { status } = settle(made, [made], now, 22) as KubeObject
    const found = status.conditions.find(
      (one: Loose) => one.type === 'KubernetesAPIApprovalPolicyConformant',
    )
    assert.deepEqual([found.status, found.reason, found.message], wanted)
  })
}
