/** The flow schemas and priority levels every cluster has; their specs are fixed. */
import type { Loose } from '#api/object-meta.ts'
import { levelsLend, sharesField } from '#api/priority-shares.ts'
import type { Release } from '#api/releases/change.ts'

const everything = {
  resourceRules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
  ],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}

const schemaFor = (level: string, precedence: number, groups: string[]): Loose => ({
  priorityLevelConfiguration: { name: level },
  matchingPrecedence: precedence,
  rules: [
    {
      subjects: groups.map((name) => ({ kind: 'Group', group: { name } })),
      ...everything,
    },
  ],
})

export const mandatoryFlowSchemas: ReadonlyMap<string, Loose> = new Map([
  ['exempt', schemaFor('exempt', 1, ['system:masters'])],
  [
    'catch-all',
    {
      ...schemaFor('catch-all', 10000, ['system:unauthenticated', 'system:authenticated']),
      distinguisherMethod: { type: 'ByUser' },
    },
  ],
])

export const mandatoryPriorityLevels = (release: Release): ReadonlyMap<string, Loose> =>
  new Map([
    ['exempt', { type: 'Exempt' }],
    [
      'catch-all',
      {
        type: 'Limited',
        limited: {
          [sharesField(release)]: 5,
          ...(release.has(levelsLend) && { lendablePercent: 0 }),
          limitResponse: { type: 'Reject' },
        },
      },
    ],
  ])
