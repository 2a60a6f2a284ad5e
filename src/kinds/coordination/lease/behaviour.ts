/** Lease: durations and counts that make sense. */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { checkPlainMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour } from '#kinds/kind.ts'

function check(lease: KubeObject): FieldError[] {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = lease.spec ?? {}
  const errors: FieldError[] = []
  if (typeof duration === 'number' && duration <= 0) {
    errors.push(invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0'))
  }
  if (typeof transitions === 'number' && transitions < 0) {
    errors.push(invalid('spec.leaseTransitions', transitions, 'must to greater or equal than 0'))
  }
  return errors
}

export const leaseBehaviour: Behaviour = {
  createOnUpdate: true,
  unconditionalUpdate: false,
  validateCreate: check,
  validateUpdate: (next, old) => [...checkPlainMetadataUpdate(next, old), ...check(next)],
}
