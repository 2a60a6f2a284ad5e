/** The scale subresource of custom kinds: the paths of its replicas and their validation. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import type { ScalePaths } from '#kinds/kind.ts'
import { goType, goValue } from '#patch/go-value.ts'

const replicasMax = 2 ** 31 - 1

export function scalePathsOf(scale: Loose | null | undefined): ScalePaths | undefined {
  if (scale === undefined || scale === null) return undefined
  const split = (path: string): string[] => path.replace(/^\./, '').split('.')
  return {
    specReplicas: split(scale.specReplicasPath ?? ''),
    statusReplicas: split(scale.statusReplicasPath ?? ''),
    ...(scale.labelSelectorPath && { labelSelector: split(scale.labelSelectorPath) }),
  }
}

/**
 * The value at a path. Undefined if absent. Throws an error text if a value on the path is not an
 * object.
 */
export function valueAt(object: KubeObject, path: readonly string[]): unknown {
  let value: unknown = object
  for (const [i, name] of path.entries()) {
    if (value === null) return undefined
    if (typeof value !== 'object' || Array.isArray(value)) {
      throw new TypeError(
        `.${path.slice(0, i + 1).join('.')} accessor error: ${goValue(value as Json)} is of the type ${goType(value as Json)}, expected map[string]interface{}`,
      )
    }
    if (!Object.hasOwn(value, name)) return undefined
    value = (value as Loose)[name]
  }
  return value
}

/** Whether the value is an int64. Integers that a double cannot represent are bigint. */
export const isWhole = (value: unknown): value is number | bigint =>
  goType(value as Json) === 'int64'

export const mistyped = (path: readonly string[], value: unknown, wanted: string): string =>
  `.${path.join('.')} accessor error: ${goValue(value as Json)} is of the type ${goType(value as Json)}, expected ${wanted}`

export function checkReplicas(object: KubeObject, path: readonly string[]): FieldError[] {
  const at = `.${path.join('.')}`
  let value: unknown
  try {
    value = valueAt(object, path)
  } catch (error) {
    return [invalid(at, 0, (error as Error).message)]
  }
  if (value === undefined) return []
  if (!isWhole(value)) return [invalid(at, 0, mistyped(path, value, 'int64'))]
  const replicas = Number(value)
  if (replicas < 0) return [invalid(at, replicas, 'should be a non-negative integer')]
  if (replicas <= replicasMax) return []
  return [invalid(at, value as Json, `should be less than or equal to ${replicasMax}`)]
}

export function checkSelector(object: KubeObject, path: readonly string[]): FieldError[] {
  try {
    const value = valueAt(object, path)
    if (value === undefined || typeof value === 'string') return []
    return [invalid(`.${path.join('.')}`, '', mistyped(path, value, 'string'))]
  } catch (error) {
    return [invalid(`.${path.join('.')}`, '', (error as Error).message)]
  }
}

export const missingReplicas = (path: readonly string[]): string =>
  `the spec replicas field ${goQuote(`.${path.join('.')}`)}`
