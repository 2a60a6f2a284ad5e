/** Lease: validation of durations, transitions and the election strategy. */
import { type FieldError, forbidden, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { checkPlainMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { dropUnlessUsed } from '#kinds/all-kinds/strategy.ts'
import { checkLeaseStrategy } from '#kinds/coordination/lease-strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

const wordsAreRight = change('the error of negative lease transitions is a right sentence', {
  since: 24,
})

const path = FieldPath.of('spec')

function check(lease: KubeObject, { release }: Context): FieldError[] {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = lease.spec ?? {}
  const errors: FieldError[] = []
  if (typeof duration === 'number' && duration <= 0) {
    errors.push(invalid(path.child('leaseDurationSeconds'), duration, 'must be greater than 0'))
  }
  if (typeof transitions === 'number' && transitions < 0) {
    const isRight = releaseOf(release).has(wordsAreRight)
    const words = isRight ? 'must be greater than or equal to 0' : 'must to greater or equal than 0'
    errors.push(invalid(path.child('leaseTransitions'), transitions, words))
  }
  return [...errors, ...checkElection(lease)]
}

function checkElection({ spec = {} }: KubeObject): FieldError[] {
  const { strategy, preferredHolder } = spec
  const errors = strategy === undefined ? [] : checkLeaseStrategy(strategy, path.child('strategy'))
  if (!preferredHolder || strategy) return errors
  const detail = 'may only be specified if `strategy` is defined'
  return [...errors, forbidden(path.child('preferredHolder'), detail)]
}

const electionGate = 'CoordinatedLeaderElection'

function dropElection(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  for (const field of ['strategy', 'preferredHolder']) {
    const used = old?.spec?.[field] !== undefined
    dropUnlessUsed(next.spec, field, context.feature(electionGate), used)
  }
}

export const leaseBehaviour: Behaviour = {
  createOnUpdate: true,
  unconditionalUpdate: false,
  prepareForCreate: (object, context) => dropElection(object, undefined, context),
  prepareForUpdate: dropElection,
  validateCreate: check,
  validateUpdate: (next, old, context) => [
    ...checkPlainMetadataUpdate(next, old),
    ...check(next, context),
  ],
}
