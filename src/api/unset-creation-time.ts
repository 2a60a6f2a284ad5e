/**
 * How metadata says that an object has no time of creation, for objects that are made for an answer
 * and never stored.
 */
import { change, releaseOf } from './releases/change.ts'

const zeroTimesOmitted = change('a creationTimestamp that is not set is left out', { since: 34 })

export const unsetCreationTime = (release: number): { creationTimestamp?: null } =>
  releaseOf(release).has(zeroTimesOmitted) ? {} : { creationTimestamp: null }
