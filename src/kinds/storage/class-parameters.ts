/** Parameters of the classes of volumes, which a driver gets with every request. */
import { type FieldError, invalid, tooLong } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { sortedKeys } from '#kinds/all-kinds/checks.ts'

/** Parameters are handed to the provisioner with every claim. */
const parametersCountMax = 512
const parametersSizeBytesMax = 256 * 1024

export function checkParameters(parameters: Record<string, string>, path: FieldPath): FieldError[] {
  const keys = sortedKeys(parameters)
  if (keys.length > parametersCountMax) return [tooLong(path, '', parametersCountMax)]
  const errors: FieldError[] = []
  let size = 0
  for (const key of keys) {
    if (key === '') errors.push(invalid(path, key, 'field can not be empty.'))
    size += Buffer.byteLength(key) + Buffer.byteLength(parameters[key] as string)
  }
  if (size > parametersSizeBytesMax) errors.push(tooLong(path, '', parametersSizeBytesMax))
  return errors
}
