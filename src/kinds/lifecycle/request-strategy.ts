/**
 * The strategy of Eviction and EvictionRequest: new objects have generation 1, and a changed spec
 * raises it. Tags on the fields declare the rules of the spec.
 */
import { resetStatus, statusStrategy } from '#kinds/all-kinds/status-strategy.ts'
import { keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour } from '#kinds/kind.ts'

export const requestStrategy: Behaviour = {
  ...statusStrategy,
  unconditionalUpdate: false,
  prepareForCreate(object) {
    resetStatus(object)
    object.metadata.generation = 1
  },
  prepareForUpdate(next, old) {
    keepStatus(next, old)
    raiseGeneration(next, old, ['spec'])
  },
}
