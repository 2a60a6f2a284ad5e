/** Validation of access modes. ReadWriteOncePod exists only in newer releases. */
import { type FieldError, forbidden, notSupported } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Context } from '#kinds/kind.ts'

const modesOfMany = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce']
const oncePod = 'ReadWriteOncePod'
const knowsOncePod = change('claims and volumes know the access mode ReadWriteOncePod', {
  since: 22,
})

/**
 * Whether a volume may have the mode ReadWriteOncePod. `unknown`: the release does not have it, so
 * a mix with other modes has no separate error.
 */
const oncePodNeedsNoGate = change('volumes may always be for one pod', { since: 29 })

export type OncePod = 'allowed' | 'refused' | 'unknown'

/** `used` are the modes of the old object, which it may keep. */
export function oncePodIn(
  { release, feature }: Pick<Context, 'release' | 'feature'>,
  used: readonly string[] = [],
): OncePod {
  if (!releaseOf(release).has(knowsOncePod)) return 'unknown'
  if (releaseOf(release).has(oncePodNeedsNoGate)) return 'allowed'
  return feature(oncePod) || used.includes(oncePod) ? 'allowed' : 'refused'
}

export function checkModes(modes: readonly string[], path: FieldPath, once: OncePod): FieldError[] {
  const supported = once === 'allowed' ? [...modesOfMany, oncePod] : modesOfMany
  const errors = modes
    .filter((mode) => !supported.includes(mode))
    .map((mode) => notSupported(path, mode, supported))
  const isMixed = modes.includes(oncePod) && modes.some((mode) => modesOfMany.includes(mode))
  if (once !== 'unknown' && isMixed) {
    errors.push(forbidden(path, 'may not use ReadWriteOncePod with other access modes'))
  }
  return errors
}
