import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { checkCreate, contextFor, named } from '#kinds/all-kinds/behaviour.suite.ts'
import type { Conversion } from '#kinds/all-kinds/conversion.ts'
import { allDefaults, conversionsOf } from '#kinds/all-kinds/rules.fixture.ts'
import { flowSchemaBehaviour } from './flow-schema/behaviour.ts'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from './mandatory.ts'
import { priorityLevelConfigurationBehaviour } from './priority-level-configuration/behaviour.ts'

const user = { kind: 'User', user: { name: 'u' } }
const schema = (rule: Loose, spec: Loose = {}) =>
  named({
    spec: {
      matchingPrecedence: 5,
      priorityLevelConfiguration: { name: 'p' },
      rules: [
        {
          subjects: [user],
          nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }],
          ...rule,
        },
      ],
      ...spec,
    },
  })

checkCreate(flowSchemaBehaviour, [
  ['a schema', schema({}), []],
  ...[...mandatoryFlowSchemas].map(([name, spec]): [string, ReturnType<typeof named>, string[]] => [
    `${name} as it must be`,
    named({ spec }, { name }),
    [],
  ]),
  [
    'the first place is taken',
    schema({}, { matchingPrecedence: 1 }),
    [
      "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
    ],
  ],
  [
    'a subject has the member of its kind',
    schema({
      subjects: [
        { ...user, group: {} },
        { kind: 'ServiceAccount', serviceAccount: { name: '*' } },
      ],
    }),
    [
      "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
      'spec.rules[0].subjects[1].serviceAccount.namespace: Required value: must specify namespace for service account',
    ],
  ],
  [
    'paths end in a star or nowhere',
    schema({ nonResourceRules: [{ verbs: ['zap'], nonResourceURLs: ['a', '/*/b', '/c*', '//'] }] }),
    [
      'spec.rules[0].nonResourceRules[0].verbs: Unsupported value: []string{"zap"}: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "a": must start with slash',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/*/b": wildcard can only do suffix matching',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "/c*": wildcard can only do suffix matching',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: "//": must not contain double slash',
    ],
  ],
])

const queued = (queuing: Loose) =>
  named({
    spec: {
      type: 'Limited',
      limited: { assuredConcurrencyShares: 1, limitResponse: { type: 'Queue', queuing } },
    },
  })
checkCreate(priorityLevelConfigurationBehaviour, [
  ...[...mandatoryPriorityLevels(releaseOf(22))].map(
    ([name, spec]): [string, ReturnType<typeof named>, string[]] => [
      `${name} as it must be`,
      named({ spec }, { name }),
      [],
    ],
  ),
  [
    'catch-all is fixed',
    named({ spec: { type: 'Limited' } }, { name: 'catch-all' }),
    [
      'spec.limited: Required value: must not be empty when type is Limited',
      'spec: Invalid value: flowcontrol.PriorityLevelConfigurationSpec{Type:"Limited", Limited:(*flowcontrol.LimitedPriorityLevelConfiguration)(nil)}: spec of \'catch-all\' must equal the fixed value',
    ],
  ],
  [
    'a hand fits its queues',
    queued({ queues: 4, handSize: 5, queueLengthLimit: 0 }),
    [
      'spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: 0: must be positive',
      'spec.limited.limitResponse.queuing.handSize: Invalid value: 5: should not be greater than queues (4)',
    ],
  ],
  [
    'and a hash',
    queued({ queues: 1024, handSize: 7, queueLengthLimit: 1 }),
    [
      'spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60',
    ],
  ],
])

const limitedBy = (limited: object) =>
  named({
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...limited } },
  })
const zero = limitedBy({ nominalConcurrencyShares: 0 })
const zeroGate = ['ZeroLimitedNominalConcurrencyShares']
const limits = 'spec.limited'
checkCreate(priorityLevelConfigurationBehaviour, [
  [
    'no shares are too few',
    zero,
    [`${limits}.nominalConcurrencyShares: Invalid value: 0: must be positive`],
    contextFor({ release: 29 }),
  ],
  [
    'errors name the field of the version',
    zero,
    [`${limits}.assuredConcurrencyShares: Invalid value: 0: must be positive`],
    contextFor({ release: 28, requestApiVersion: 'flowcontrol.apiserver.k8s.io/v1beta2' }),
  ],
  ['but allowed by a gate', zero, [], contextFor({ release: 30 }, zeroGate)],
  [
    'percentages',
    limitedBy({ nominalConcurrencyShares: 1, lendablePercent: 101, borrowingLimitPercent: -1 }),
    [
      `${limits}.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive`,
      `${limits}.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer`,
    ],
    contextFor({ release: 30 }),
  ],
  [
    'a type is named until 1.33',
    named({ spec: { type: '' } }, { name: 'exempt' }),
    [
      "spec.type: Invalid value: \"\": type must be 'Exempt' if and only if name is 'exempt'",
      'spec.type: Unsupported value: "": supported values: "Exempt", "Limited"',
      "spec: Invalid value: flowcontrol.PriorityLevelConfigurationSpec{Type:\"\", Limited:(*flowcontrol.LimitedPriorityLevelConfiguration)(nil), Exempt:(*flowcontrol.ExemptPriorityLevelConfiguration)(nil)}: spec of 'exempt' except the 'spec.exempt' field must equal the fixed value",
    ],
    contextFor({ release: 33 }),
  ],
  [
    'in other words since 1.34',
    named({ spec: { type: 'Exempt' } }),
    ["spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"],
    contextFor({ release: 34 }),
  ],
  [
    'and missed since 1.36',
    named({ spec: {} }),
    ['spec.type: Required value'],
    contextFor({ release: 36 }),
  ],
  [
    'a level is exempt or limited',
    named(
      { spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: -1 }, limited: {} } },
      { name: 'exempt' },
    ),
    [
      'spec.limited: Forbidden: must be nil if the type is not Limited',
      'spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
      "spec: Invalid value: flowcontrol.PriorityLevelConfigurationSpec{Type:\"Exempt\", Limited:(*flowcontrol.LimitedPriorityLevelConfiguration)(0xc000000000), Exempt:(*flowcontrol.ExemptPriorityLevelConfiguration)(0xc000000000)}: spec of 'exempt' except the 'spec.exempt' field must equal the fixed value",
    ],
    contextFor({ release: 34 }),
  ],
])

const conversionOf = (version: string): Conversion => {
  const conversions = conversionsOf('flowcontrol.apiserver.k8s.io/prioritylevelconfigurations')
  return conversions?.[`flowcontrol.apiserver.k8s.io/${version}`] as Conversion
}

const versions: [version: string, shares: object, hub: object, back: object][] = [
  [
    'v1beta2',
    { assuredConcurrencyShares: 3 },
    { nominalConcurrencyShares: 3 },
    { assuredConcurrencyShares: 3 },
  ],
  [
    'v1beta3',
    { nominalConcurrencyShares: 3 },
    { nominalConcurrencyShares: 3 },
    { nominalConcurrencyShares: 3 },
  ],
]
for (const [version, limited, hub, back] of versions) {
  test(`shares of ${version} and back`, () => {
    const { toHub, fromHub } = conversionOf(version)
    const converted = toHub(named({ spec: { limited: { ...limited } } }), 31)
    assert.deepEqual(converted.spec.limited, hub)
    assert.deepEqual(fromHub(converted).spec.limited, back)
  })
}

test('v1beta3 marks an explicit zero', () => {
  const { toHub, fromHub } = conversionOf('v1beta3')
  const shown = fromHub(named({ spec: { limited: { nominalConcurrencyShares: 0 } } }))
  assert.deepEqual(Object.keys(shown.metadata.annotations ?? {}), [
    'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares',
  ])
  assert.equal(toHub(shown, 31).metadata.annotations, undefined)
})

const defaulted: [type: string, release: number, value: object, expected: object][] = [
  [
    'v1.LimitedPriorityLevelConfiguration',
    37,
    {},
    { nominalConcurrencyShares: 30, lendablePercent: 0 },
  ],
  [
    'v1.LimitedPriorityLevelConfiguration',
    37,
    { nominalConcurrencyShares: 0 },
    { nominalConcurrencyShares: 0, lendablePercent: 0 },
  ],
  ['v1beta2.LimitedPriorityLevelConfiguration', 25, {}, { assuredConcurrencyShares: 30 }],
  [
    'v1beta2.LimitedPriorityLevelConfiguration',
    26,
    {},
    { assuredConcurrencyShares: 30, lendablePercent: 0 },
  ],
  [
    'v1.ExemptPriorityLevelConfiguration',
    29,
    {},
    { nominalConcurrencyShares: 0, lendablePercent: 0 },
  ],
]
for (const [type, release, value, expected] of defaulted) {
  test(`defaults of ${type} in 1.${release} from ${JSON.stringify(value)}`, () => {
    const filled = { ...value }
    allDefaults[`io.k8s.api.flowcontrol.${type}`]?.(filled, {
      release,
      feature: () => false,
    } as never)
    assert.deepEqual(filled, expected)
  })
}
