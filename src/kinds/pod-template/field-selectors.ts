/**
 * References to fields and resources of the pod itself, as environment variables and downward
 * volumes make them.
 */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { change } from '#api/releases/change.ts'
import { qualifiedName } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { isZeroQuantity } from '#api/quantity.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import type { PodRules } from './pod-rules.ts'

/** Everything a field reference could name, in any place. */
const knownFields = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.podIP',
  'status.podIPs',
])

/** `metadata.labels['a']` → its two parts. */
function splitSubscript(text: string): { field: string; subscript: string } | undefined {
  if (!text.endsWith("']")) return undefined
  const open = text.indexOf("['")
  if (open <= 0 || open > text.length - 4) return undefined
  return { field: text.slice(0, open), subscript: text.slice(open + 2, -2) }
}

export const hasHostIps = change('environment variables can have the addresses of the host', {
  since: 28,
})

function conversionProblem(
  apiVersion: string,
  fieldPath: string,
  rules: PodRules,
): string | undefined {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`
  const parts = splitSubscript(fieldPath)
  if (parts !== undefined) {
    const subscriptable = ['metadata.annotations', 'metadata.labels'].includes(parts.field)
    return subscriptable ? undefined : `field label does not support subscript: ${fieldPath}`
  }
  if (knownFields.has(fieldPath) || fieldPath === 'spec.host') return undefined
  if (fieldPath === 'status.hostIPs' && rules.has(hasHostIps)) return undefined
  return `field label not supported: ${fieldPath}`
}

const showsLowerCase = change('errors of annotations in field references show them in lower case', {
  since: 25,
})

/** Validates a fieldRef. `allowed` are the permitted fields without subscript, sorted. */
export function checkFieldSelector(
  selector: Loose,
  allowed: readonly string[],
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const { apiVersion = '', fieldPath = '' } = selector
  if (apiVersion === '') return [required(path.child('apiVersion'))]
  if (fieldPath === '') return [required(path.child('fieldPath'))]
  const problem = conversionProblem(apiVersion, fieldPath, rules)
  if (problem !== undefined) {
    const detail = `error converting fieldPath: ${problem}`
    return [invalid(path.child('fieldPath'), fieldPath, detail)]
  }
  const internal = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath
  const parts = splitSubscript(internal)
  if (parts !== undefined) {
    const key =
      parts.field === 'metadata.annotations' ? parts.subscript.toLowerCase() : parts.subscript
    const shown = rules.has(showsLowerCase) ? key : parts.subscript
    return each(path, shown, qualifiedName(key))
  }
  return allowed.includes(internal)
    ? []
    : [notSupported(path.child('fieldPath'), internal, allowed)]
}

const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]
const byteDivisors = [
  '1',
  '1k',
  '1M',
  '1G',
  '1T',
  '1P',
  '1E',
  '1Ki',
  '1Mi',
  '1Gi',
  '1Ti',
  '1Pi',
  '1Ei',
]

const isHugePages = (resource: string): boolean =>
  resource.startsWith('requests.hugepages-') || resource.startsWith('limits.hugepages-')

/** A resourceFieldRef; in a volume it must name its container. */
export function checkResourceSelector(
  selector: Loose,
  path: FieldPath,
  rules: PodRules,
  inVolume: boolean,
): FieldError[] {
  const errors: FieldError[] = []
  const { containerName = '', resource = '' } = selector
  if (inVolume && containerName === '') {
    errors.push(required(path.child('containerName')))
  } else if (resource === '') {
    errors.push(required(path.child('resource')))
  } else if (!resourceFields.includes(resource)) {
    if (!rules.allowDownwardHugePages || !isHugePages(resource)) {
      errors.push(notSupported(path.child('resource'), resource, resourceFields))
    }
  }
  errors.push(...checkDivisor(resource, selector.divisor ?? '0', path.child('divisor')))
  return errors
}

function checkDivisor(resource: string, divisor: string, path: FieldPath): FieldError[] {
  if (isZeroQuantity(divisor)) return []
  const cpu = resource === 'limits.cpu' || resource === 'requests.cpu'
  if (cpu) {
    const detail = "only divisor's values 1m and 1 are supported with the cpu resource"
    return divisor === '1m' || divisor === '1' ? [] : [invalid(path, resource, detail)]
  }
  const what = byteResourceName(resource)
  if (what === undefined || byteDivisors.includes(divisor)) return []
  const shown = byteDivisors.join(', ')
  return [
    invalid(
      path,
      resource,
      `only divisor's values ${shown} are supported with the ${what} resource`,
    ),
  ]
}

function byteResourceName(resource: string): string | undefined {
  if (resource === 'limits.memory' || resource === 'requests.memory') return 'memory'
  if (resource === 'limits.ephemeral-storage' || resource === 'requests.ephemeral-storage') {
    return 'local ephemeral storage'
  }
  return isHugePages(resource) ? 'hugepages' : undefined
}
