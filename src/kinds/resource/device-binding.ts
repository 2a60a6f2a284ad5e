/**
 * Validation of the conditions of a device: those that must be true before a pod is bound, and
 * those that stop it. A device has both or none.
 */
import { covered, duplicate, type FieldError, invalid, tooMany } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { repeats } from '#kinds/all-kinds/checks.ts'
import { checkLabelName } from './device-names.ts'

const conditionsMax = 4

export function checkBinding(device: Loose, path: FieldPath): FieldError[] {
  const wanted: string[] = device.bindingConditions ?? []
  const failing: string[] = device.bindingFailureConditions ?? []
  const [wantedPath, failingPath] = [
    path.child('bindingConditions'),
    path.child('bindingFailureConditions'),
  ]
  const overlap = 'bindingFailureConditions must not overlap with bindingConditions'
  const need = (one: string, other: string) => `${one} are required to use ${other}`
  return [
    ...checkConditions(wanted, wantedPath),
    ...checkConditions(failing, failingPath),
    ...failing.flatMap((name, i) =>
      wanted.includes(name) ? [invalid(failingPath.index(i), name, overlap)] : [],
    ),
    ...(wanted.length === 0 && failing.length > 0
      ? [
          invalid(
            wantedPath,
            device.bindingConditions,
            need('bindingConditions', 'bindingFailureConditions'),
          ),
        ]
      : []),
    ...(failing.length === 0 && wanted.length > 0
      ? [
          invalid(
            failingPath,
            device.bindingFailureConditions,
            need('bindingFailureConditions', 'bindingConditions'),
          ),
        ]
      : []),
  ]
}

function checkConditions(names: readonly string[], path: FieldPath): FieldError[] {
  if (names.length > conditionsMax) return [covered(tooMany(path, names.length, conditionsMax))]
  const isRepeated = repeats(names)
  return names.flatMap((name, i) => [
    ...checkLabelName(name, path.index(i)),
    ...(isRepeated[i] ? [duplicate(path.index(i), name)] : []),
  ])
}
