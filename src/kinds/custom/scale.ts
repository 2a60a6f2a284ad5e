/** Where a custom kind has its replicas, and what may stand there. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { ScalePaths } from '#kinds/kind.ts'

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

/** The value at a path, or undefined where there is none. Throws a text where something stands in the way. */
export function valueAt(object: KubeObject, path: readonly string[]): unknown {
  let value: unknown = object
  for (const [i, name] of path.entries()) {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      throw new TypeError(
        `.${path.slice(0, i + 1).join('.')} accessor error: ${shown(value)} is of the type ${goTypeOf(value)}, expected map[string]interface{}`,
      )
    }
    if (!Object.hasOwn(value, name)) return undefined
    value = (value as Loose)[name]
  }
  return value
}

const shown = (value: unknown): string => (value === null ? '<nil>' : String(value))

function goTypeOf(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean'
    ? 'bool'
    : typeof value === 'object'
      ? 'map[string]interface {}'
      : 'string'
}

const mistyped = (path: readonly string[], value: unknown, wanted: string): string =>
  `.${path.join('.')} accessor error: ${shown(value)} is of the type ${goTypeOf(value)}, expected ${wanted}`

export function checkReplicas(object: KubeObject, path: readonly string[]): FieldError[] {
  const at = `.${path.join('.')}`
  let value: unknown
  try {
    value = valueAt(object, path)
  } catch (error) {
    return [invalid(at, 0, (error as Error).message)]
  }
  if (value === undefined) return []
  if (!Number.isInteger(value)) return [invalid(at, 0, mistyped(path, value, 'int64'))]
  const replicas = value as number
  if (replicas < 0) return [invalid(at, replicas, 'should be a non-negative integer')]
  if (replicas <= replicasMax) return []
  return [invalid(at, replicas, `should be less than or equal to ${replicasMax}`)]
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
