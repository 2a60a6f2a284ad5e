/** Common behaviour of flow schemas and priority levels. Their validation and columns differ. */
import type { FieldError } from '#api/field-error.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { checkMetadata } from '#kinds/all-kinds/metadata.ts'
import { keepMetadata, keepSpec, keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkFlowConditions } from './flow-conditions.ts'

export const flowBehaviour = (
  check: (object: KubeObject, context: Context) => FieldError[],
): Behaviour => ({
  resetFields: [['status']],
  prepareForCreate(object) {
    object.status = {}
    object.metadata.generation = 1
  },
  prepareForUpdate(next, old) {
    raiseGeneration(next, old, ['spec'])
    keepStatus(next, old)
  },
  validateCreate: check,
  validateUpdate: (next, _, context) => [
    ...checkMetadata(next, false, nameIsDnsSubdomain),
    ...check(next, context),
  ],
  subresources: {
    status: {
      resetFields: [['metadata'], ['spec']],
      prepareForUpdate(next, old) {
        keepMetadata(next, old)
        keepSpec(next, old)
      },
      validateUpdate: (next, _old, context) => checkFlowConditions(next, context),
    },
  },
})
