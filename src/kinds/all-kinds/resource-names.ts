/** Validation of resource names (cpu, requests.memory, example.com/gpu) and their quantities. */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo } from '#api/go-syntax.ts'
import { qualifiedName } from '#api/names.ts'
import { quantityMilliValue, quantityValue, signOfQuantity } from '#api/quantity.ts'
import { each } from './checks.ts'
import { goQuantity } from './go-quantity.ts'

const compute = ['cpu', 'memory', 'ephemeral-storage']
const counted = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]
const quota = new Set([
  ...compute,
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  ...counted,
])
const standard = new Set([...quota, 'storage'])

const isHugePages = (name: string): boolean => name.startsWith('hugepages-')
const isQuotaHugePages = (name: string): boolean =>
  isHugePages(name) || name.startsWith('requests.hugepages-')

/** Resources of Kubernetes' own: no prefix, or one of kubernetes.io. */
const isNativeResource = (name: string): boolean =>
  !name.includes('/') || name.includes('kubernetes.io/')
export const isStandardQuotaResource = (name: string): boolean =>
  quota.has(name) || isQuotaHugePages(name)
export const isOvercommitAllowed = (name: string): boolean =>
  isNativeResource(name) && !isHugePages(name)

export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false
  return qualifiedName(`requests.${name}`).length === 0
}

const isInteger = (name: string): boolean => counted.includes(name) || isExtendedResource(name)

export function checkResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = each(path, name, qualifiedName(name))
  if (errors.length > 0 || name.includes('/')) return errors
  if (standard.has(name) || isQuotaHugePages(name)) return []
  return [invalid(path, name, 'must be a standard resource type or fully qualified')]
}

export function checkContainerResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = checkResourceName(name, path)
  if (!name.includes('/')) {
    if (!compute.includes(name) && !isHugePages(name)) {
      errors.push(invalid(path, name, 'must be a standard resource for containers'))
    }
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(invalid(path, name, "doesn't follow extended resource name standard"))
  }
  return errors
}

export function checkQuotaResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = checkResourceName(name, path)
  if (!name.includes('/') && !isStandardQuotaResource(name)) {
    errors.push(invalid(path, name, 'must be a standard resource for quota'))
  }
  return errors
}

/** A quantity of a resource: not negative, and whole where parts of it make no sense. */
export function checkResourceQuantity(
  amounts: Readonly<Record<string, string>>,
  name: string,
  path: FieldPath,
): FieldError[] {
  const value = amounts[name] as string
  const errors = checkQuantityNotNegative(value, path)
  if (isInteger(name) && quantityMilliValue(value) % 1000n !== 0n) {
    errors.push(invalid(path, asGo(goQuantity(amounts, name)), 'must be an integer'))
  }
  return errors
}

export const checkQuantityNotNegative = (value: string, path: FieldPath): FieldError[] =>
  signOfQuantity(value) < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : []
export const checkQuantityPositive = (value: string, path: FieldPath): FieldError[] =>
  signOfQuantity(value) <= 0 ? [invalid(path, value, 'must be greater than zero')] : []

/** A quantity that is not below zero once rounded up to whole units. */
export function checkBasicResource(value: string, path: FieldPath): FieldError[] {
  const whole = quantityValue(value)
  return whole < 0n ? [invalid(path, whole, 'must be a valid resource quantity')] : []
}
