import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { checkCreate, named } from '#kinds/all-kinds/behaviour.suite.ts'
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
    'a subject is what it says',
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
