/** Validates the addresses of pods, which had different messages before 1.33. */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { isIp } from '#api/ip-address.ts'
import { change } from '#api/releases/change.ts'
import { checkLegacyIp } from '#kinds/all-kinds/legacy-addresses.ts'
import type { PodRules } from './pod-rules.ts'

const sharesWords = change('errors of addresses in pods give examples', { since: 33 })

export function checkPodAddress(text: string, path: FieldPath, rules: PodRules): FieldError[] {
  if (rules.has(sharesWords)) return checkLegacyIp(text, path, rules)
  return isIp(text) ? [] : [invalid(path, text, 'must be valid IP address')]
}
