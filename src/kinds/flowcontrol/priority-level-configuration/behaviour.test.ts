import type { Loose } from '#api/object-meta.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { contextFor, linesOf, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { priorityLevelConfigurationBehaviour as behaviour } from './behaviour.ts'

checkBoundaries<Loose, string[]>(
  (release, spec) =>
    linesOf(behaviour.validateCreate?.(named({ spec }), contextFor({ release })) ?? []),
  [
    [
      'a level without type',
      [35, 36],
      {},
      ['spec.type: Unsupported value: "": supported values: "Exempt", "Limited"'],
      ['spec.type: Required value'],
    ],
    [
      'a limited level without response',
      [35, 36],
      { type: 'Limited', limited: { nominalConcurrencyShares: 1 } },
      [
        'spec.limited.limitResponse.type: Unsupported value: "": supported values: "Queue", "Reject"',
      ],
      ['spec.limited.limitResponse.type: Required value'],
    ],
  ],
)
