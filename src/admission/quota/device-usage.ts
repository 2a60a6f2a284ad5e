/**
 * The quota usage of a ResourceClaim: the claim itself and its devices by class. If a device class
 * maps to an extended resource, its devices count for that resource too. Devices that the claim's
 * pod has already charged are excluded.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { compareQuantities, type Quantity, quantityOf, subtractQuantities } from '#api/quantity.ts'
import { change } from '#api/releases/change.ts'
import type { Evaluator, Lookup, Settings } from './evaluator.ts'
import { isExtendedName, podEvaluator } from './pod-usage.ts'
import { add, type ResourceAmounts } from './resource-amounts.ts'

const claimCount = 'count/resourceclaims.resource.k8s.io'
const ofClass = '.deviceclass.resource.k8s.io/devices'
const requests = 'requests.'
const implicit = 'requests.deviceclass.resource.kubernetes.io/'
/** The maximum number of devices for a claim that requests all devices. */
const devicesMax = 32
const ofPodAnnotation = 'resource.kubernetes.io/extended-resource-claim'

const countsExtended = change('quotas count devices under the extended resource of their class', {
  since: 35,
})

/** Other objects that determine the usage: device classes, and pods and claims of the namespace. */
interface Surroundings {
  readonly resourceOf: ReadonlyMap<string, string>
  readonly pods: readonly KubeObject[]
  readonly claims: readonly KubeObject[]
}
const nothing: Surroundings = { resourceOf: new Map(), pods: [], claims: [] }

export function deviceEvaluator(settings: Settings): Evaluator {
  const isExtended = settings.release.has(countsExtended) && settings.feature('DRAExtendedResource')
  const podUsage = podEvaluator(settings).usage
  const known = new Map<string, Surroundings>()
  let resourceOf: ReadonlyMap<string, string> = new Map()
  const isMapped = (name: string): boolean => {
    const names = [...resourceOf.values()]
    if (name.startsWith(implicit)) return resourceOf.has(name.slice(implicit.length))
    return isExtendedName(name) && names.includes(name.slice(requests.length))
  }
  return {
    handles: ({ operation, subresource }) =>
      subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
    counts: (name) =>
      name === claimCount || name.endsWith(ofClass) || (isExtended && isMapped(name)),
    inScope: () => false,
    ...(isExtended && {
      async prepare(lookup: Lookup, namespace: string) {
        const classes = await lookup('resource.k8s.io', 'deviceclasses')
        const pods = await lookup('', 'pods', namespace)
        const claims = await lookup('resource.k8s.io', 'resourceclaims', namespace)
        resourceOf = resourcesOf(classes)
        known.set(namespace, { resourceOf, pods, claims })
      },
    }),
    usage(claim) {
      const usage = devicesOf(claim)
      if (!isExtended) return usage
      const around = known.get(claim.metadata.namespace ?? '') ?? nothing
      const pod = payingPod(claim, around)
      return withExtended(usage, around, pod === undefined ? new Map() : podUsage(pod))
    },
  }
}

const resourcesOf = (classes: readonly KubeObject[]): Map<string, string> =>
  new Map(
    classes
      .filter(({ spec }) => spec?.extendedResourceName)
      .map(({ metadata, spec }) => [metadata.name ?? '', spec.extendedResourceName]),
  )

function devicesOf({ spec }: KubeObject): Map<string, Quantity> {
  let usage = new Map([[claimCount, quantityOf(1)]])
  for (const request of (spec?.devices?.requests ?? []) as Loose[]) {
    const most = new Map<string, Quantity>()
    const choices: Loose[] = request.firstAvailable ?? [request.exactly ?? {}]
    for (const { deviceClassName, allocationMode, count = 0 } of choices) {
      if (!deviceClassName) continue
      const name = `${deviceClassName}${ofClass}`
      const modes: Record<string, number> = { ExactCount: Number(count), All: devicesMax }
      const amount = quantityOf(modes[allocationMode] ?? 0)
      if (compareQuantities(amount, most.get(name) ?? '0') >= 0) most.set(name, amount)
    }
    usage = add(usage, most)
  }
  return usage
}

function withExtended(
  usage: Map<string, Quantity>,
  { resourceOf }: Surroundings,
  paid: ResourceAmounts,
): Map<string, Quantity> {
  const extended = new Map<string, Quantity>()
  for (const [name, amount] of usage) {
    if (!name.endsWith(ofClass)) continue
    const className = name.slice(0, -ofClass.length)
    extended.set(`${implicit}${className}`, amount)
    const resource = resourceOf.get(className)
    if (resource !== undefined) extended.set(`${requests}${resource}`, amount)
  }
  const all = new Map(usage)
  for (const [name, amount] of extended) {
    const rest = subtractQuantities(amount, paid.get(name) ?? '0')
    if (compareQuantities(rest, '0') > 0) all.set(name, rest)
  }
  return all
}

/**
 * The pod for whose extended resources the scheduler created the claim. Only the first claim of a
 * pod counts.
 */
function payingPod(
  { metadata }: KubeObject,
  { pods, claims }: Surroundings,
): KubeObject | undefined {
  if (metadata.annotations?.[ofPodAnnotation] !== 'true') return undefined
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  if (owner?.kind !== 'Pod' || owner.apiVersion !== 'v1') return undefined
  const pod = pods.find((one) => one.metadata.name === owner.name)
  if (pod?.metadata.uid !== owner.uid) return undefined
  const claim: string | undefined = pod?.status?.extendedResourceClaimStatus?.resourceClaimName
  if (claim !== undefined) return claim === metadata.name ? pod : undefined
  const isEarlier = (one: KubeObject) => {
    const [mine, other] = [metadata.creationTimestamp ?? '', one.metadata.creationTimestamp ?? '']
    return other < mine || (other === mine && (one.metadata.name ?? '') < (metadata.name ?? ''))
  }
  const ofPod = claims.filter(
    ({ metadata: { annotations, ownerReferences } }) =>
      annotations?.[ofPodAnnotation] === 'true' &&
      ownerReferences?.some(({ controller, uid }) => controller === true && uid === owner.uid),
  )
  return ofPod.some(isEarlier) ? undefined : pod
}
