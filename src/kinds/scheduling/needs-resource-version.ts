/** A PUT of a Workload or PodGroup needs a resourceVersion from 1.37 on. */
import { change } from '#api/releases/change.ts'

export const needsResourceVersion = change(
  'a PUT of a workload or pod group needs a resource version',
  { since: 37 },
)
