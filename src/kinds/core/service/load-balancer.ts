/**
 * Validates the fields of a Service that only type LoadBalancer uses: source ranges, node port
 * allocation and load balancer class.
 */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { isCidr } from '#api/ip-address.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { checkQualifiedName } from '#kinds/all-kinds/checks.ts'
import { checkLegacyCidr } from '#kinds/all-kinds/legacy-addresses.ts'
import type { Context } from '#kinds/kind.ts'
import { ownValue } from '#kinds/own-key.ts'
import { isLoadBalancer, specOf } from './service-shape.ts'

// kube-apiserver writes some paths of these errors in its own way: `LoadBalancerSourceRanges`
// begins with a capital, and `allocateLoadBalancerNodePorts` has no `spec`.
const specPath = FieldPath.of('spec')
const sourceRangesKey = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const only = "may only be used when `type` is 'LoadBalancer'"

const checksEachRange = change('errors of loadBalancerSourceRanges name the range', { since: 30 })
const keepsOldAnnotation = change(
  'an update of a service does not check unchanged annotations of source ranges',
  { since: 33 },
)

/**
 * Validates loadBalancerSourceRanges or, if unset, the annotation. Blanks around a range are
 * accepted, because the annotation accepted them.
 */
export function checkSourceRanges(
  service: KubeObject,
  context: Context,
  old?: KubeObject,
): FieldError[] {
  if (!releaseOf(context.release).has(checksEachRange)) return checkSourceRangesTogether(service)
  const ranges: string[] = specOf(service).loadBalancerSourceRanges ?? []
  const misplaced = (path: FieldPath) => (isLoadBalancer(service) ? [] : [forbidden(path, only)])
  if (ranges.length > 0) {
    const path = specPath.child('LoadBalancerSourceRanges')
    const before: string[] = specOf(old ?? { metadata: {} }).loadBalancerSourceRanges ?? []
    const oldRanges = before.map((range) => range.trim())
    return [
      ...misplaced(path),
      ...ranges.flatMap((range, i) =>
        checkLegacyCidr(range.trim(), path.index(i), context, oldRanges),
      ),
    ]
  }
  const annotation = ownValue(service.metadata.annotations, sourceRangesKey)
  if (annotation === undefined) return []
  const path = FieldPath.of('metadata', 'annotations').key(sourceRangesKey)
  const isUnchanged =
    releaseOf(context.release).has(keepsOldAnnotation) &&
    ownValue(old?.metadata.annotations, sourceRangesKey) === annotation
  const text = annotation.trim()
  if (isUnchanged || text === '') return misplaced(path)
  const listed = text.split(',')
  return [
    ...misplaced(path),
    ...listed.flatMap((range) => checkLegacyCidr(range.trim(), path, context)),
  ]
}

/**
 * Before 1.30, kube-apiserver reports all ranges together as one value. Its message ends with a
 * space.
 */
export function checkSourceRangesTogether(service: KubeObject): FieldError[] {
  const ranges: string[] = specOf(service).loadBalancerSourceRanges ?? []
  const annotation = ownValue(service.metadata.annotations, sourceRangesKey)
  if (ranges.length === 0 && annotation === undefined) return []
  const inSpec = ranges.length > 0
  const path = inSpec
    ? specPath.child('LoadBalancerSourceRanges')
    : FieldPath.of('metadata', 'annotations').key(sourceRangesKey)
  const errors: FieldError[] = []
  if (!isLoadBalancer(service)) {
    errors.push(forbidden(path, only))
  }
  const text = (annotation ?? '').trim()
  const given = inSpec ? ranges : text === '' ? [] : text.split(',')
  if (!given.every((range) => isCidr(range.trim()))) {
    const shown = inSpec ? `[${ranges.join(' ')}]` : annotation
    const detail = 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 '
    errors.push(invalid(path, shown, detail))
  }
  return errors
}

export function checkLoadBalancerFields(service: KubeObject, context: Context): FieldError[] {
  const { allocateLoadBalancerNodePorts: allocate, loadBalancerClass: className } = specOf(service)
  const errors: FieldError[] = []
  if (allocate !== undefined && !isLoadBalancer(service)) {
    errors.push(forbidden(specPath.child('allocateLoadBalancerNodePorts'), only))
  }
  if (context.feature('ServiceLBNodePortControl') && isLoadBalancer(service)) {
    if (allocate === undefined) errors.push(required('allocateLoadBalancerNodePorts'))
  }
  return [...errors, ...checkClass(service, className)]
}

function checkClass(service: KubeObject, className: string | undefined): FieldError[] {
  if (className === undefined) return []
  const at = specPath.child('loadBalancerClass')
  return isLoadBalancer(service) ? checkQualifiedName(className, at) : [forbidden(at, only)]
}

/** loadBalancerClass is immutable. */
export function checkClassChange(next: KubeObject, old: KubeObject): FieldError[] {
  const [now, then] = [specOf(next).loadBalancerClass, specOf(old).loadBalancerClass]
  const isChanged = isLoadBalancer(old) && isLoadBalancer(next) && now !== then
  const at = specPath.child('loadBalancerClass')
  return [
    ...(isChanged ? [invalid(at, now, 'may not change once set')] : []),
    ...checkClass(next, now),
  ]
}
