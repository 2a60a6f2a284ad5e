/** Parts that device classes and claims share: selectors of devices, and parameters for drivers. */
import {
  covered,
  type FieldError,
  forbidden,
  invalid,
  required,
  tooLong,
  tooMany,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import type { Context } from '#kinds/kind.ts'
import { checkDriverName } from './device-names.ts'

/** Loaded with the first selector. */
const loadExpressions = loadLater<typeof import('./device-expression.ts')>(
  import.meta.url,
  './device-expression',
)

/** Requests, constraints, selectors and configurations. */
export const entriesMax = 32
const expressionLengthMax = 10 * 1024
const parametersSizeBytesMax = 10 * 1024

/** Entries beyond the maximum number are not validated. */
export function checkEach<T>(
  list: readonly T[],
  max: number,
  path: FieldPath,
  check: (item: T, at: FieldPath) => FieldError[],
): FieldError[] {
  if (list.length > max) return [covered(tooMany(path, list.length, max))]
  return list.flatMap((item, i) => check(item, path.index(i)))
}

/** `isStored`: the selectors are as they were, and compiled then. */
export const checkSelectors = (
  selectors: readonly Loose[],
  path: FieldPath,
  context: Context,
  isStored: boolean,
): FieldError[] =>
  checkEach(selectors, entriesMax, path, ({ cel }, at) => {
    if (!cel) return [required(at.child('cel'))]
    if (isStored) return []
    return checkExpression(cel.expression ?? '', at.child('cel', 'expression'), context)
  })

function checkExpression(text: string, path: FieldPath, context: Context): FieldError[] {
  if (Buffer.byteLength(text) > expressionLengthMax) {
    return [tooLong(path, text, expressionLengthMax)]
  }
  const problem = loadExpressions().selectorProblem(text, context)
  if (problem === undefined) return []
  if ('invalid' in problem) return [invalid(path, text, problem.invalid)]
  return [forbidden(path, 'too complex, exceeds cost limit')]
}

export function checkConfiguration(
  { opaque }: Loose,
  path: FieldPath,
  isStored: boolean,
): FieldError[] {
  const at = path.child('opaque')
  if (!opaque) return [required(at)]
  return [
    ...checkDriverName(opaque.driver ?? '', at.child('driver')).map(covered),
    ...checkParameters(opaque.parameters, at.child('parameters'), isStored),
  ]
}

export function checkParameters(
  parameters: unknown,
  path: FieldPath,
  isStored: boolean,
): FieldError[] {
  if (parameters === undefined || parameters === null) return [required(path)]
  const size = Buffer.byteLength(JSON.stringify(parameters))
  if (!isStored && size > parametersSizeBytesMax) {
    return [tooLong(path, '', parametersSizeBytesMax)]
  }
  const isObject = typeof parameters === 'object' && !Array.isArray(parameters)
  return isObject ? [] : [invalid(path, '<value omitted>', 'must be a valid JSON object')]
}
