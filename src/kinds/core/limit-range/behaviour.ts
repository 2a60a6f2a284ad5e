/**
 * LimitRange: validation of types, resource names, and the order of minimum, default and maximum.
 */
import { duplicate, type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain, qualifiedName } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { compareQuantities, quantityMilliValue, quantityValue } from '#api/quantity.ts'
import { each, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { goQuantityPrinted } from '#kinds/all-kinds/go-quantity.ts'
import { checkMetadata } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { ownValue } from '#kinds/own-key.ts'
import {
  checkContainerResourceName,
  checkResourceName,
  isOvercommitAllowed,
} from '#kinds/all-kinds/resource-names.ts'

const types = ['Pod', 'Container', 'PersistentVolumeClaim']

function checkType(type: string, path: FieldPath): FieldError[] {
  const errors = each(path, type, qualifiedName(type))
  if (errors.length > 0 || type.includes('/') || types.includes(type)) return errors
  return [invalid(path, type, 'must be a standard limit type or fully qualified')]
}

function check(range: KubeObject): FieldError[] {
  const path = FieldPath.of('spec', 'limits')
  const seen = new Set<string>()
  const errors: FieldError[] = []
  for (const [i, limit] of ((range.spec?.limits ?? []) as Loose[]).entries()) {
    const type: string = limit.type ?? ''
    errors.push(...checkType(type, path.index(i).child('type')))
    if (seen.has(type)) errors.push(duplicate(path.index(i).child('type'), type))
    seen.add(type)
    errors.push(...checkNames(limit, type, path.index(i)))
    for (const key of resourcesOf(limit, type)) {
      errors.push(...checkOrder(limit, key, type, path.index(i)))
    }
  }
  return errors
}

function checkNames(limit: Loose, type: string, path: FieldPath): FieldError[] {
  const byName =
    type === 'Pod' || type === 'Container' ? checkContainerResourceName : checkResourceName
  const names = (field: string): FieldError[] =>
    sortedKeys(limit[field]).flatMap((key) => byName(key, path.child(field).key(key)))
  const errors = [...names('max'), ...names('min')]
  for (const field of ['default', 'defaultRequest']) {
    if (type !== 'Pod') errors.push(...names(field))
    else if (sortedKeys(limit[field]).length > 0) {
      errors.push(forbidden(path.child(field), "may not be specified when `type` is 'Pod'"))
    }
  }
  if (type === 'PersistentVolumeClaim' && !limit.min?.storage && !limit.max?.storage) {
    const detail = 'either minimum or maximum storage value is required, but neither was provided'
    errors.push(required(path.child('limits'), detail))
  }
  return [...errors, ...names('maxLimitRequestRatio')]
}

function resourcesOf(limit: Loose, type: string): string[] {
  const fields = ['max', 'min', 'maxLimitRequestRatio']
  if (type !== 'Pod') fields.push('default', 'defaultRequest')
  return sortedKeys(
    Object.fromEntries(fields.flatMap((field) => sortedKeys(limit[field])).map((key) => [key, 1])),
  )
}

/** Each bound with each other one it must not pass. */
function checkOrder(limit: Loose, key: string, type: string, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const value = (field: string) => ownValue<string>(limit[field], key)
  const [min, max, ratio] = [value('min'), value('max'), value('maxLimitRequestRatio')]
  const [def, request] = type === 'Pod' ? [] : [value('default'), value('defaultRequest')]
  const over = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantities(a, b) > 0
  const wrong = (field: string, shown: string, detail: string) => {
    const value = asGo(goQuantityPrinted(limit[shown], key))
    errors.push(invalid(path.child(field).key(key), value, detail))
  }
  if (over(min, max)) wrong('min', 'min', `min value ${min} is greater than max value ${max}`)
  if (over(min, request)) {
    wrong(
      'defaultRequest',
      'defaultRequest',
      `min value ${min} is greater than default request value ${request}`,
    )
  }
  if (over(request, max)) {
    wrong(
      'defaultRequest',
      'defaultRequest',
      `default request value ${request} is greater than max value ${max}`,
    )
  }
  if (over(request, def)) {
    wrong(
      'defaultRequest',
      'defaultRequest',
      `default request value ${request} is greater than default limit value ${def}`,
    )
  }
  if (over(min, def))
    wrong('default', 'min', `min value ${min} is greater than default value ${def}`)
  if (over(def, max))
    wrong('default', 'max', `default value ${def} is greater than max value ${max}`)
  if (over('1', ratio))
    wrong('maxLimitRequestRatio', 'maxLimitRequestRatio', `ratio ${ratio} is less than 1`)
  const limitOfRatio = largestRatio(ratio, min, max)
  if (limitOfRatio !== undefined) {
    wrong(
      'maxLimitRequestRatio',
      'maxLimitRequestRatio',
      `ratio ${ratio} is greater than max/min = ${limitOfRatio}`,
    )
  }
  if (!isOvercommitAllowed(key) && (over(def, request) || over(request, def))) {
    const detail = `default value ${def} must equal to defaultRequest value ${request} in ${key}`
    wrong('defaultRequest', 'defaultRequest', detail)
  }
  return errors
}

/** Above this a quantity in thousandths no longer fits an int64. */
const milliValueMax = (2n ** 63n - 1n) / 1000n

/**
 * If the given ratio is larger than the ratio of max and min: this ratio, with six decimals, for
 * the error.
 */
function largestRatio(
  ratio: string | undefined,
  min: string | undefined,
  max: string | undefined,
): string | undefined {
  if (ratio === undefined || min === undefined || max === undefined) return undefined
  const small = [ratio, min, max].every((text) => quantityValue(text) < milliValueMax)
  const amount = (text: string) => Number(small ? quantityMilliValue(text) : quantityValue(text))
  const given = small ? amount(ratio) / 1000 : amount(ratio)
  const largest = amount(max) / amount(min)
  if (!(given > largest)) return undefined
  return largest.toFixed(6)
}

export const limitRangeBehaviour: Behaviour = {
  createOnUpdate: true,
  prepareForCreate(object) {
    if (!object.metadata.name && object.metadata.uid) object.metadata.name = object.metadata.uid
  },
  validateCreate: check,
  validateUpdate: (next) => [...checkMetadata(next, true, nameIsDnsSubdomain), ...check(next)],
}
