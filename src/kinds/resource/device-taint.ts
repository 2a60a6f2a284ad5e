/** Taints of devices. */
import { covered, type FieldError } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { labelValue } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { checkOneOf, each } from '#kinds/all-kinds/checks.ts'
import { taintEffects } from './device-claim.ts'
import { checkLabelName } from './device-names.ts'

/**
 * An existing object may keep an effect that was valid before. Declarative validation, in releases
 * that have it, reports the error of the effect instead (`covered`).
 */
export function checkTaint(taint: Loose, path: FieldPath, old?: Loose): FieldError[] {
  const { key = '', value = '', effect } = taint
  const isKept = old !== undefined && old.effect === effect
  return [
    ...checkLabelName(key, path.child('key')),
    ...(value === '' ? [] : each(path.child('value'), value, labelValue(value))),
    ...(isKept ? [] : checkOneOf(effect, taintEffects, path.child('effect')).map(covered)),
  ]
}
