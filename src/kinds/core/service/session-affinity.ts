/** Validation of sessionAffinity and its timeout. */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { checkOneOf } from '#kinds/all-kinds/checks.ts'

const specPath = FieldPath.of('spec')
/** One day. */
const affinitySecondsMax = 86400

export function checkAffinity(spec: Loose): FieldError[] {
  const errors = checkOneOf(
    spec.sessionAffinity,
    ['ClientIP', 'None'],
    specPath.child('sessionAffinity'),
  )
  const at = specPath.child('sessionAffinityConfig')
  const config = spec.sessionAffinityConfig
  if (spec.sessionAffinity === 'None' && config) {
    errors.push(forbidden(at, 'must not be set when session affinity is None'))
  }
  if (spec.sessionAffinity !== 'ClientIP') return errors
  const missing = 'when session affinity type is ClientIP'
  if (!config) return [...errors, required(at, missing)]
  if (!config.clientIP) return [...errors, required(at.child('clientIP'), missing)]
  const seconds = config.clientIP.timeoutSeconds
  const secondsPath = at.child('clientIP', 'timeoutSeconds')
  if (seconds === undefined) return [...errors, required(secondsPath, missing)]
  if (seconds > 0 && seconds <= affinitySecondsMax) return errors
  const detail = `must be greater than 0 and less than ${affinitySecondsMax}`
  return [...errors, invalid(secondsPath, seconds, detail)]
}
