/** The metrics an autoscaler watches: one source each, and a target that can be reached. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo } from '#api/go-syntax.ts'
import { pathSegmentName } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { signOfQuantity } from '#api/quantity.ts'
import { checkDns1123Label, each } from '#kinds/all-kinds/checks.ts'
import { checkContainerResourceName } from '#kinds/all-kinds/resource-names.ts'
import { goQuantity } from '#kinds/all-kinds/go-quantity.ts'
import type { Context } from '#kinds/kind.ts'

type Check = (source: Loose, path: FieldPath, isLenient: boolean) => FieldError[]

const types = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']

const knowsContainerMetrics = change('autoscalers can use metrics of a container', { since: 20 })
const targetTypes = ['Utilization', 'Value', 'AverageValue']

/**
 * In the order in which kube-apiserver checks them; only the first one present is checked in
 * detail.
 */
const sources: readonly (readonly [string, Check])[] = [
  ['object', checkObject],
  ['external', checkExternal],
  ['pods', checkPods],
  ['resource', checkResource],
  ['containerResource', checkContainerResource],
]
const sourceOfType: ReadonlyMap<string, string> = new Map([
  ['Object', 'object'],
  ['Pods', 'pods'],
  ['Resource', 'resource'],
  ['External', 'external'],
  ['ContainerResource', 'containerResource'],
])

const namesMissingField = change(
  'errors of autoscalers name the field of a missing metric source',
  { since: 20 },
)

/** With `isLenient`, the described object may have an invalid apiVersion. */
export function checkMetric(
  metric: Loose,
  path: FieldPath,
  context: Context,
  isLenient: boolean,
): FieldError[] {
  const type: string = metric.type ?? ''
  const errors: FieldError[] = []
  const isOld = !releaseOf(context.release).has(knowsContainerMetrics)
  const known = isOld ? types.slice(1) : types
  if (type === '') errors.push(required(path.child('type'), 'must specify a metric source type'))
  if (!known.includes(type)) errors.push(notSupported(path.child('type'), type, known))
  const present = sources.filter(([field]) => metric[field])
  const [first] = present
  if (first !== undefined)
    errors.push(...first[1](metric[first[0]], path.child(first[0]), isLenient))
  const expected = isOld ? type.toLowerCase() : sourceOfType.get(type)
  if (expected === undefined) errors.push(notSupported(path.child('type'), type, types))
  else if (!metric[expected]) {
    const isOld = !releaseOf(context.release).has(namesMissingField)
    const gated =
      !isOld && expected === 'containerResource' && !context.feature('HPAContainerMetrics')
    const detail = `must populate information for the given metric source${gated ? ' (only allowed when HPAContainerMetrics feature is enabled)' : ''}`
    errors.push(required(path.child(isOld ? expected.toLowerCase() : expected), detail))
  }
  if (present.length === 1) return errors
  for (const [field] of present) {
    if (field === expected) continue
    errors.push(forbidden(path.child(field), 'must populate the given metric source only'))
  }
  return errors
}

/** Validates kind and name of a reference. Its apiVersion is not checked here. */
export function checkCrossVersionReference(reference: Loose, path: FieldPath): FieldError[] {
  return ['kind', 'name'].flatMap((field) => {
    const value: string = reference[field] ?? ''
    if (value === '') return [required(path.child(field))]
    return each(path.child(field), value, pathSegmentName(value))
  })
}

/** The error of an apiVersion that is invalid, or that lacks a required group. */
function apiVersionProblem({ apiVersion = '' }: Loose, mayBeCore: boolean): string | undefined {
  const slashes = apiVersion.split('/').length - 1
  if (slashes > 1) return `unexpected GroupVersion string: ${apiVersion}`
  const group = slashes === 0 ? '' : apiVersion.split('/', 1)[0]
  return mayBeCore || group !== '' ? undefined : 'apiVersion must specify API group'
}

export function checkApiVersion(target: Loose, path: FieldPath, mayBeCore: boolean): FieldError[] {
  const problem = apiVersionProblem(target, mayBeCore)
  if (problem === undefined) return []
  return [invalid(path.child('apiVersion'), target.apiVersion ?? '', problem)]
}

/** A metric that was accepted before apiVersions were checked. */
export const hasInvalidApiVersion = (metric: Loose): boolean =>
  metric.type === 'Object' &&
  metric.object !== undefined &&
  apiVersionProblem(metric.object.describedObject ?? {}, true) !== undefined

function checkObject(source: Loose, path: FieldPath, isLenient: boolean): FieldError[] {
  const described: Loose = source.describedObject ?? {}
  const describedPath = path.child('describedObject')
  const target = source.target ?? {}
  const at = path.child('target')
  const errors = [
    ...checkCrossVersionReference(described, describedPath),
    ...(isLenient ? [] : checkApiVersion(described, describedPath, true)),
    ...checkIdentifier(source.metric ?? {}, path.child('metric')),
    ...checkTarget(target, at),
  ]
  if (target.value === undefined && target.averageValue === undefined) {
    const detail = 'must set either a target value or averageValue'
    errors.push(required(at.child('averageValue'), detail))
  }
  return errors
}

function checkExternal(source: Loose, path: FieldPath): FieldError[] {
  const target = source.target ?? {}
  const at = path.child('target')
  const errors = [
    ...checkIdentifier(source.metric ?? {}, path.child('metric')),
    ...checkTarget(target, at),
  ]
  const [value, average] = [target.value !== undefined, target.averageValue !== undefined]
  if (!value && !average) {
    const detail = 'must set either a target value for metric or a per-pod target'
    errors.push(required(at.child('averageValue'), detail))
  }
  if (value && average) {
    const detail = 'may not set both a target value for metric and a per-pod target'
    errors.push(forbidden(at.child('value'), detail))
  }
  return errors
}

function checkPods(source: Loose, path: FieldPath): FieldError[] {
  const at = path.child('target')
  const errors = [
    ...checkIdentifier(source.metric ?? {}, path.child('metric')),
    ...checkTarget(source.target ?? {}, at),
  ]
  if (source.target?.averageValue === undefined) {
    errors.push(required(at.child('averageValue'), 'must specify a positive target averageValue'))
  }
  return errors
}

function checkResource(source: Loose, path: FieldPath): FieldError[] {
  const name = source.name ? [] : [required(path.child('name'), 'must specify a resource name')]
  return [...name, ...checkUsage(source.target ?? {}, path.child('target'))]
}

function checkContainerResource(source: Loose, path: FieldPath): FieldError[] {
  const errors = source.name
    ? checkContainerResourceName(source.name, path.child('name'))
    : [required(path.child('name'), 'must specify a resource name')]
  const at = path.child('container')
  if (source.container) errors.push(...checkDns1123Label(source.container, at))
  else errors.push(required(at, 'must specify a container'))
  return [...errors, ...checkUsage(source.target ?? {}, path.child('target'))]
}

/** A target for a resource: a share of the request, or an amount. */
function checkUsage(target: Loose, path: FieldPath): FieldError[] {
  const errors = checkTarget(target, path)
  const share = target.averageUtilization !== undefined
  const amount = target.averageValue !== undefined
  if (!share && !amount) {
    const detail = 'must set either a target raw value or a target utilization'
    errors.push(required(path.child('averageUtilization'), detail))
  }
  if (share && amount) {
    const detail = 'may not set both a target raw value and a target utilization'
    errors.push(forbidden(path.child('averageValue'), detail))
  }
  return errors
}

function checkTarget(target: Loose, path: FieldPath): FieldError[] {
  const type: string = target.type ?? ''
  const errors: FieldError[] = []
  if (type === '') errors.push(required(path.child('type'), 'must specify a metric target type'))
  if (!targetTypes.includes(type)) {
    const detail = 'must be either Utilization, Value, or AverageValue'
    errors.push(invalid(path.child('type'), type, detail))
  }
  for (const field of ['value', 'averageValue']) {
    const amount: string | undefined = target[field]
    if (amount === undefined || signOfQuantity(amount) > 0) continue
    errors.push(invalid(path.child(field), asGo(goQuantity(target, field)), 'must be positive'))
  }
  const share: number | undefined = target.averageUtilization
  if (share !== undefined && share < 1) {
    errors.push(invalid(path.child('averageUtilization'), share, 'must be greater than 0'))
  }
  return errors
}

function checkIdentifier(metric: Loose, path: FieldPath): FieldError[] {
  const name: string = metric.name ?? ''
  const at = path.child('name')
  return name === ''
    ? [required(at, 'must specify a metric name')]
    : each(at, name, pathSegmentName(name))
}
