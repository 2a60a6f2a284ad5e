/**
 * The unset creationTimestamp in metadata of objects that are created for a response and never
 * stored.
 */
import { change, releaseOf } from './releases/change.ts'

const zeroTimesOmitted = change('a creationTimestamp that is not set is left out', { since: 34 })

export const unsetCreationTime = (release: number): { creationTimestamp?: null } =>
  releaseOf(release).has(zeroTimesOmitted) ? {} : { creationTimestamp: null }
