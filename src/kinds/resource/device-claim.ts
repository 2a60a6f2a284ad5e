/** Validation of device claims, shared by ResourceClaim and ResourceClaimTemplate. */
import {
  covered,
  duplicate,
  type FieldError,
  invalid,
  notSupported,
  required,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { labelValue } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkOneOfIfSet,
  each,
  repeats,
} from '#kinds/all-kinds/checks.ts'
import type { Context } from '#kinds/kind.ts'
import {
  checkConfiguration,
  checkEach,
  checkSelectors,
  entriesMax,
} from './device-configuration.ts'
import { checkFullName, checkLabelName } from './device-names.ts'

/** Until then the fields of a request are beside its name, also in paths of errors. */
export const requestsHaveAlternatives = change('a device request can have alternatives', {
  since: 33,
})

const alternativesMax = 8
export const taintEffects = ['NoExecute', 'NoSchedule', 'None']

/** The names of requests, each with those of its alternatives. */
export type Names = ReadonlyMap<string, ReadonlySet<string> | undefined>

export function checkDeviceClaim(devices: Loose, path: FieldPath, context: Context): FieldError[] {
  const requests: Loose[] = devices.requests ?? []
  const names = namesOf(devices)
  return [
    ...checkNamed(requests, entriesMax, path.child('requests'), (request, at) =>
      checkRequest(request, at, context),
    ),
    ...checkEach(
      (devices.constraints ?? []) as Loose[],
      entriesMax,
      path.child('constraints'),
      (constraint, at) => checkConstraint(constraint, at, names, context),
    ),
    ...checkEach(
      (devices.config ?? []) as Loose[],
      entriesMax,
      path.child('config'),
      (config, at) => [
        ...checkReferences(config.requests ?? [], at.child('requests'), names),
        ...checkConfiguration(config, at, false),
      ],
    ),
  ]
}

export const namesOf = (devices: Loose): Names =>
  new Map(
    ((devices.requests ?? []) as Loose[]).map(({ name = '', firstAvailable }) => [
      name,
      firstAvailable?.length > 0
        ? new Set((firstAvailable as Loose[]).map((one) => one.name ?? ''))
        : undefined,
    ]),
  )

/** Checks a list of named entries. Each name must be unique. */
function checkNamed(
  list: readonly Loose[],
  max: number,
  path: FieldPath,
  check: (item: Loose, at: FieldPath) => FieldError[],
): FieldError[] {
  const errors = checkEach(list, max, path, check)
  if (list.length > max) return errors
  const names = list.map(({ name = '' }) => name as string)
  const isRepeated = repeats(names)
  return [
    ...errors,
    ...names.flatMap((name, i) => (isRepeated[i] ? [covered(duplicate(path.index(i), name))] : [])),
  ]
}

function checkRequest(request: Loose, path: FieldPath, context: Context): FieldError[] {
  const { name = '', exactly, firstAvailable } = request
  const errors = checkDns1123Label(name, path.child('name'))
  const choice = 'exactly one of `exactly` or `firstAvailable` is required'
  const hasAlternatives = firstAvailable?.length > 0
  if (!exactly && !hasAlternatives) return [...errors, required(path, choice)]
  if (exactly && hasAlternatives) {
    return [...errors, invalid(path, undefined, `${choice}, but multiple fields are set`)]
  }
  if (exactly) {
    const isNested = releaseOf(context.release).has(requestsHaveAlternatives)
    return [...errors, ...checkWanted(exactly, isNested ? path.child('exactly') : path, context)]
  }
  const at = path.child('firstAvailable')
  return [
    ...errors,
    ...checkNamed(firstAvailable as Loose[], alternativesMax, at, (one, place) => [
      ...checkDns1123Label(one.name ?? '', place.child('name')),
      ...checkWanted(one, place, context),
    ]),
  ]
}

function checkWanted(wanted: Loose, path: FieldPath, context: Context): FieldError[] {
  const { deviceClassName = '', selectors = [], tolerations = [] } = wanted
  const at = path.child('deviceClassName')
  return [
    ...(deviceClassName === '' ? [required(at)] : checkDns1123Subdomain(deviceClassName, at)),
    ...checkSelectors(selectors, path.child('selectors'), context, false),
    ...checkCount(wanted, path),
    ...(tolerations as Loose[]).flatMap((toleration, i) =>
      checkToleration(toleration, path.child('tolerations').index(i)),
    ),
  ]
}

function checkCount({ allocationMode, count = 0 }: Loose, path: FieldPath): FieldError[] {
  const at = path.child('count')
  if (allocationMode === 'All') {
    const detail = "must not be specified when allocationMode is 'All'"
    return count === 0 ? [] : [invalid(at, count, detail)]
  }
  if (allocationMode === 'ExactCount') {
    return count > 0 ? [] : [invalid(at, count, 'must be greater than zero')]
  }
  // Not covered: the declared rules of v1beta1 allow a request without a mode.
  const modes = ['All', 'ExactCount']
  return [notSupported(path.child('allocationMode'), allocationMode ?? '', modes)]
}

export function checkToleration(toleration: Loose, path: FieldPath): FieldError[] {
  const { key = '', operator = '', value = '', effect } = toleration
  const at = path.child('operator')
  const errors = key === '' ? [] : checkLabelName(key, path.child('key')).map(covered)
  if (operator === 'Exists') {
    const detail = 'must be empty for operator `Exists`'
    if (value !== '') errors.push(invalid(path.child('value'), value, detail))
  } else if (operator === 'Equal')
    errors.push(...each(path.child('value'), value, labelValue(value)))
  else if (operator === '') errors.push(covered(required(at)))
  else errors.push(covered(notSupported(at, operator, ['Equal', 'Exists'])))
  const effects = checkOneOfIfSet(effect || undefined, taintEffects, path.child('effect'))
  return [...errors, ...effects.map(covered)]
}

function checkConstraint(
  constraint: Loose,
  path: FieldPath,
  names: Names,
  { feature }: Context,
): FieldError[] {
  const { matchAttribute, distinctAttribute } = constraint
  const errors = checkReferences(constraint.requests ?? [], path.child('requests'), names)
  if (matchAttribute !== undefined) {
    return [...errors, ...checkFullName(matchAttribute, path.child('matchAttribute'))]
  }
  if (distinctAttribute !== undefined) {
    return [...errors, ...checkFullName(distinctAttribute, path.child('distinctAttribute'))]
  }
  if (!feature('DRAConsumableCapacity')) return [...errors, required(path.child('matchAttribute'))]
  const detail =
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
  return [...errors, required(path, detail)]
}

export function checkReferences(
  list: readonly string[],
  path: FieldPath,
  names: Names,
): FieldError[] {
  const errors = checkEach(list, entriesMax, path, (name, at) => checkReference(name, at, names))
  if (list.length > entriesMax) return errors
  const isRepeated = repeats(list)
  const twice = list.flatMap((name, i) =>
    isRepeated[i] ? [covered(duplicate(path.index(i), name))] : [],
  )
  return [...errors, ...twice]
}

/** A request, or one of its alternatives: `request/alternative`. */
export function checkReference(name: string, path: FieldPath, names: Names): FieldError[] {
  const unknown = invalid(
    path,
    name,
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
  )
  const [request = '', alternative, ...more] = name.split('/')
  if (more.length > 0) return [unknown]
  const isKnown =
    names.has(request) && (alternative === undefined || names.get(request)?.has(alternative))
  return [
    ...name.split('/').flatMap((part) => checkDns1123Label(part, path)),
    ...(isKnown ? [] : [unknown]),
  ]
}
