/** Validation of the size that a claim was given while it grows, and how far that is. */
import { type FieldError, notSupported } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { qualifiedName } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { each, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { checkBasicResource } from '#kinds/all-kinds/resource-names.ts'

const resizeStates = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]
const statusPath = FieldPath.of('status')

export function checkAllocation({
  allocatedResourceStatuses: states = {},
  allocatedResources: amounts = {},
}: Loose): FieldError[] {
  const statesPath = statusPath.child('allocatedResourceStatuses')
  const amountsPath = statusPath.child('allocatedResources')
  return [
    ...sortedKeys(states).flatMap((name) => [
      ...checkResourceName(name, statesPath),
      ...(resizeStates.includes(states[name])
        ? []
        : [notSupported(statesPath, name, resizeStates)]),
    ]),
    ...sortedKeys(amounts).flatMap((name) => {
      const errors = checkResourceName(name, amountsPath)
      return errors.length > 0 ? errors : checkBasicResource(amounts[name], amountsPath.key(name))
    }),
  ]
}

/** Of the names without a domain of their own, only storage can be allocated. */
function checkResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = each(path, name, qualifiedName(name))
  const isNative = !name.includes('/') || name.includes('kubernetes.io/')
  if (errors.length > 0 || !isNative || name === 'storage') return errors
  return [notSupported(path, name, ['storage'])]
}
