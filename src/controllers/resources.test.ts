import type { ResourceRef } from '#client/client.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { certificateRequests, disruptionBudgets } from './resources.ts'

const versioned = { certificateRequests, disruptionBudgets } satisfies Record<
  string,
  (release: number) => ResourceRef
>

checkBoundaries<keyof typeof versioned, string>(
  (release, resource) => versioned[resource](release).version,
  [
    ['certificate requests', [18, 19], 'certificateRequests', 'v1beta1', 'v1'],
    ['disruption budgets', [20, 21], 'disruptionBudgets', 'v1beta1', 'v1'],
  ],
)
