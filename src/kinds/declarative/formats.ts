/** The formats of declarative validation, such as +k8s:format=k8s-long-name. */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import {
  dns1123Label,
  dns1123Subdomain,
  dns1123SubdomainAnyCase,
  identifier,
  labelValue,
  longerThan,
  pathSegmentName,
  qualifiedName,
} from '#api/names.ts'
import { tooLongBytes } from './limits.ts'

type Format = (value: string, path: FieldPath) => FieldError[]

/** Declarative errors count bytes where hand-written errors count characters. */
const inBytes = (problem: string): string =>
  problem.replace(/^must be no more than (\d+) characters$/, 'must be no more than $1 bytes')

const each = (path: FieldPath, value: string, problems: readonly string[]): FieldError[] =>
  problems.map((problem) => invalid(path, value, inBytes(problem)))

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const poolNameBytesMax = 253
const deviceNameBytesMax = 32
const deviceDomainBytesMax = 63
const quotaPrefix = 'requests.'
const ownDomain = 'kubernetes.io/'

function prefixedLabelKey(value: string): string[] {
  const problems = qualifiedName(value)
  if (problems.length > 0 || value.includes('/')) return problems
  return ["must include a prefix (e.g. 'example.com/key')"]
}

/** A resource pool name: DNS subdomains separated by slashes. */
function resourcePoolName(value: string, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (longerThan(value, poolNameBytesMax)) errors.push(tooLongBytes(path, poolNameBytesMax))
  for (const [i, part] of value.split('/').entries()) {
    const problems = part === '' ? ['must not be empty'] : dns1123Subdomain(part).map(inBytes)
    const shown = part === '' ? value : part
    errors.push(...problems.map((problem) => invalid(path, shown, `segment ${i}: ${problem}`)))
  }
  return errors
}

/** example.com/gpu, and still a label key where a quota puts its prefix in front. */
function extendedResourceName(value: string, path: FieldPath): FieldError[] {
  const problems: string[] = []
  if (!value.includes('/')) {
    problems.push("a name must be a domain-prefixed path, such as 'example.com/my-prop'")
  } else if (value.includes(ownDomain)) problems.push(`must not have "${ownDomain}" domain`)
  if (value.startsWith(quotaPrefix)) problems.push(`must not have "${quotaPrefix}" prefix`)
  return each(path, value, [...problems, ...qualifiedName(quotaPrefix + value)])
}

function cIdentifier(value: string, path: FieldPath): FieldError[] {
  const errors = each(path, value, identifier(value))
  return longerThan(value, deviceNameBytesMax)
    ? [tooLongBytes(path, deviceNameBytesMax), ...errors]
    : errors
}

/** A fully qualified attribute name: a domain and a C identifier. */
function resourceFullyQualifiedName(value: string, path: FieldPath): FieldError[] {
  const [domain, name, ...rest] = value.split('/') as [string, ...string[]]
  if (name === undefined) {
    const detail = 'a fully qualified name must be a domain and a name separated by a slash'
    return [...cIdentifier(domain, path), invalid(path, value, detail)]
  }
  if (rest.length > 0) return []
  const errors: FieldError[] = []
  if (domain === '') errors.push(invalid(path, '', 'prefix must not be empty'))
  else {
    if (longerThan(domain, deviceDomainBytesMax)) {
      errors.push(tooLongBytes(path, deviceDomainBytesMax))
    }
    errors.push(
      ...dns1123Subdomain(domain).map((problem) =>
        invalid(path, domain, `prefix: ${inBytes(problem)}`),
      ),
    )
  }
  return name === ''
    ? [...errors, invalid(path, '', 'name must not be empty')]
    : [...errors, ...cIdentifier(name, path)]
}

const simple =
  (problemsOf: (value: string) => string[]): Format =>
  (value, path) =>
    each(path, value, problemsOf(value))

/** Formats by rule name: the format's name in the error, and its check. */
export const formats: ReadonlyMap<string, readonly [name: string, Format]> = new Map([
  ['shortName', ['k8s-short-name', simple(dns1123Label)]],
  ['longName', ['k8s-long-name', simple(dns1123Subdomain)]],
  ['longNameCaseless', ['k8s-long-name-caseless', simple(dns1123SubdomainAnyCase)]],
  ['labelKey', ['k8s-label-key', simple(qualifiedName)]],
  ['prefixedLabelKey', ['k8s-prefixed-label-key', simple(prefixedLabelKey)]],
  ['labelValue', ['k8s-label-value', simple(labelValue)]],
  ['pathSegmentName', ['k8s-path-segment-name', simple(pathSegmentName)]],
  [
    'uuid',
    [
      'k8s-uuid',
      simple((text) => (uuid.test(text) ? [] : ['must be a lowercase UUID in 8-4-4-4-12 format'])),
    ],
  ],
  ['resourcePoolName', ['k8s-resource-pool-name', resourcePoolName]],
  ['extendedResourceName', ['k8s-extended-resource-name', extendedResourceName]],
  ['resourceFullyQualifiedName', ['k8s-resource-fully-qualified-name', resourceFullyQualifiedName]],
])
