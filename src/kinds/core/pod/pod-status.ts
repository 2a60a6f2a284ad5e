/** Validation of updates to the status of a pod. */
import {
  duplicate,
  type FieldError,
  fieldNotFound,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import {
  conditionReason,
  groupId,
  longerThan,
  nameIsDnsSubdomain,
  qualifiedName,
  rangeProblem,
} from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { isZeroQuantity, signOfQuantity } from '#api/quantity.ts'
import { change } from '#api/releases/change.ts'
import { checkDns1123Label, checkImmutable, each } from '#kinds/all-kinds/checks.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { checkPodAnnotationsUpdate } from '#kinds/pod-template/pod-annotations.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'
import { checkStates } from './container-states.ts'
import { checkHostIps, checkPodIps } from './pod-addresses.ts'

const addressesOfStatus = change('an update of the status of a pod validates status.podIPs', {
  since: 19,
})
const conditionsAreOfStatus = change('errors of conditions of pods name status.conditions', {
  since: 33,
})
const countsGenerations = change('observed generations of pods may not be negative', { since: 33 })
const qosStays = change('the quality of service class of a pod is immutable', { since: 32 })

export function checkPodStatusUpdate(
  next: KubeObject,
  old: KubeObject,
  rules: PodRules,
): FieldError[] {
  const status: Loose = next.status ?? {}
  const before: Loose = old.status ?? {}
  const path = FieldPath.of('status')
  const conditionsAt = rules.has(conditionsAreOfStatus) ? path : FieldPath.of('metadata')
  const errors = [
    ...checkMetadataUpdate(next, old),
    ...checkPodAnnotationsUpdate(next, old, FieldPath.of('metadata', 'annotations'), rules),
    ...checkConditions(status.conditions, conditionsAt.child('conditions'), rules),
    ...checkNodeNames(next, old, path, rules),
  ]
  const generation: number = status.observedGeneration ?? 0
  if (generation < 0 && rules.has(countsGenerations)) {
    errors.push(notCounted(path, generation))
  }
  if (rules.has(qosStays)) {
    errors.push(...checkImmutable(status.qosClass, before.qosClass, path.child('qosClass')))
  }
  errors.push(
    ...checkStates(status, before, old.spec, path, rules),
    ...checkClaimStatuses(status, next.spec, path.child('resourceClaimStatuses')),
    ...checkExtendedClaim(status, next.spec, path.child('extendedResourceClaimStatus')),
    ...checkNodeClaims(status, next.spec, path.child('nodeAllocatableResourceClaimStatuses')),
    ...checkVolumeHealth(status, next.spec, path.child('volumeHealth')),
  )
  if (rules.has(addressesOfStatus)) errors.push(...checkPodIps(next, old, rules))
  errors.push(...checkHostIps(next, old, rules), ...checkContainerStatuses(next, path))
  return errors
}

function checkNodeNames(
  next: KubeObject,
  old: KubeObject,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  const nodeName: string = old.spec.nodeName ?? ''
  if ((next.spec.nodeName ?? '') !== nodeName) {
    errors.push(forbidden(path.child('nodeName'), 'may not be changed directly'))
  }
  const nominated: string = next.status?.nominatedNodeName ?? ''
  if (nominated === '' || nominated === (old.status?.nominatedNodeName ?? '')) return errors
  const at = path.child('nominatedNodeName')
  errors.push(...each(at, nominated, nameIsDnsSubdomain(nominated, false)))
  if (nodeName !== '' && rules.feature('ClearingNominatedNodeNameAfterBinding')) {
    errors.push(forbidden(at, 'may not be set on pods that are already bound to a node'))
  }
  return errors
}

const notCounted = (path: FieldPath, generation: number): FieldError =>
  invalid(path.child('observedGeneration'), generation, 'must be a non-negative integer')

const systemConditions = ['PodScheduled', 'Ready', 'Initialized']

function checkConditions(
  conditions: Loose[] | null | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  return (conditions ?? []).flatMap((condition, i) => {
    const { type = '', observedGeneration = 0 } = condition
    const errors =
      observedGeneration < 0 && rules.has(countsGenerations)
        ? [notCounted(path.index(i), observedGeneration)]
        : []
    if (systemConditions.includes(type)) return errors
    return [...errors, ...each(path.index(i).child('Type'), type, qualifiedName(type))]
  })
}

function checkClaimStatuses(status: Loose, spec: Loose, path: FieldPath): FieldError[] {
  const claims = new Set(((spec.resourceClaims ?? []) as Loose[]).map(({ name }) => name))
  const names = new Set<string>()
  return ((status.resourceClaimStatuses ?? []) as Loose[]).flatMap((claim, i) => {
    const { name = '', resourceClaimName } = claim
    const at = path.index(i)
    const detail = 'must match the name of an entry in `spec.resourceClaims`'
    const errors = claims.has(name) ? [] : [invalid(at.child('name'), name, detail)]
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    names.add(name)
    if (typeof resourceClaimName !== 'string') return errors
    const problems = nameIsDnsSubdomain(resourceClaimName, false)
    return [...errors, ...each(at.child('resourceClaimName'), resourceClaimName, problems)]
  })
}

/** Requests that containers make of a claim which the scheduler made for them. */
function checkExtendedClaim(status: Loose, spec: Loose, path: FieldPath): FieldError[] {
  const claim: Loose | undefined = status.extendedResourceClaimStatus ?? undefined
  if (claim === undefined) return []
  const containers = new Map<string, Loose>(
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map((container: Loose) => [
      container.name ?? '',
      container,
    ]),
  )
  const at = path.child('requestMappings')
  const mappings: Loose[] = claim.requestMappings ?? []
  const errors: FieldError[] = []
  if (mappings.length === 0) errors.push(required(at, 'at least one request mapping is required'))
  const seen = new Set<string>()
  mappings.forEach((mapping, i) => {
    const { containerName = '', resourceName = '', requestName = '' } = mapping
    const container = containers.get(containerName)
    errors.push(...checkMapping(mapping, container, at.index(i)))
    errors.push(...checkDns1123Label(requestName, path.child('requestName')))
    const key = JSON.stringify([containerName, resourceName, requestName])
    if (seen.has(key)) {
      errors.push(duplicate(at.index(i).child('containerName'), containerName))
      errors.push(duplicate(at.index(i).child('resourceName'), resourceName))
      errors.push(duplicate(at.index(i).child('requestName'), requestName))
    }
    seen.add(key)
  })
  const name: string = claim.resourceClaimName ?? ''
  const nameAt = path.child('resourceClaimName')
  if (name === '') errors.push(required(nameAt))
  else errors.push(...each(nameAt, name, nameIsDnsSubdomain(name, false)))
  return errors
}

function checkMapping(
  { containerName = '', resourceName = '' }: Loose,
  container: Loose | undefined,
  path: FieldPath,
): FieldError[] {
  if (container === undefined) {
    const detail =
      'must match the name of an entry in spec.initContainers.name or spec.containers.name'
    return [invalid(path.child('containerName'), containerName, detail)]
  }
  if (Object.hasOwn(container.resources?.requests ?? {}, resourceName)) return []
  const detail =
    'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests'
  return [invalid(path.child('resourceName'), resourceName, detail)]
}

const isNodeAllocatable = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')

/** Resource claims for the node's own resources: CPU, memory, storage. */
function checkNodeClaims(status: Loose, spec: Loose, path: FieldPath): FieldError[] {
  const known = new Set<string>(
    [...(spec.resourceClaims ?? []), ...(status.resourceClaimStatuses ?? [])].flatMap(
      ({ resourceClaimName }: Loose) => resourceClaimName ?? [],
    ),
  )
  return ((status.nodeAllocatableResourceClaimStatuses ?? []) as Loose[]).flatMap((claim, i) => {
    const at = path.index(i)
    const name: string = claim.resourceClaimName ?? ''
    if (name === '') return []
    const detail = 'no mapping found in pod reference'
    return [
      ...(known.has(name) ? [] : [invalid(at.child('resourceClaimName'), name, detail)]),
      ...((claim.mapping ?? []) as Loose[]).flatMap((item, k) =>
        checkAmounts(item, ['quantity'], at.child('mapping').index(k)),
      ),
      ...((claim.overhead ?? []) as Loose[]).flatMap((item, k) => {
        const itemAt = at.child('overhead').index(k)
        const errors = checkAmounts(item, ['perPod', 'perContainer'], itemAt)
        if (item.perPod !== undefined || item.perContainer !== undefined) return errors
        return [
          ...errors,
          invalid(itemAt, '', 'at least one of perPod or perContainer must be set'),
        ]
      }),
    ]
  })
}

function checkAmounts(item: Loose, fields: readonly string[], path: FieldPath): FieldError[] {
  const name: string = item.name ?? ''
  const detail = 'must be a node allocatable resource name'
  return [
    ...(isNodeAllocatable(name) ? [] : [invalid(path.child('name'), name, detail)]),
    ...fields.flatMap((field) => {
      const amount: string | undefined = item[field] ?? undefined
      return amount === undefined || signOfQuantity(amount) >= 0
        ? []
        : [invalid(path.child(field), amount, 'must be non-negative')]
    }),
  ]
}

function checkVolumeHealth(status: Loose, spec: Loose, path: FieldPath): FieldError[] {
  const volumes = new Set(((spec.volumes ?? []) as Loose[]).map(({ name }) => name))
  return ((status.volumeHealth ?? []) as Loose[]).flatMap(({ name, healthConditions }, i) => [
    ...(name && !volumes.has(name) ? [fieldNotFound(path.index(i).child('name'), name)] : []),
    ...((healthConditions ?? []) as Loose[]).flatMap(({ reason = '' }, k) =>
      reason === ''
        ? []
        : each(
            path.index(i).child('healthConditions').index(k).child('reason'),
            reason,
            conditionReason(reason),
          ),
    ),
  ])
}

const statusLists = [
  ['containerStatuses', 'containers'],
  ['initContainerStatuses', 'initContainers'],
  ['ephemeralContainerStatuses', undefined],
] as const

function checkContainerStatuses({ spec, status }: KubeObject, path: FieldPath): FieldError[] {
  const lists = statusLists.map(([field, list]) => ({
    statuses: (status?.[field] ?? []) as Loose[],
    containers: list === undefined ? undefined : ((spec[list] ?? []) as Loose[]),
    at: path.child(field),
  }))
  return [
    ...lists.flatMap(({ statuses, at }) =>
      statuses.flatMap(({ user }, i) => checkUser(user, spec, at.index(i).child('user', 'linux'))),
    ),
    ...lists.flatMap(({ statuses, containers, at }) =>
      statuses.flatMap((one, i) => {
        const allocatedAt = at.index(i).child('allocatedResourcesStatus')
        const allocated: Loose[] = one.allocatedResourcesStatus ?? []
        if (containers !== undefined) {
          return checkAllocated(allocated, one, containers, status as Loose, allocatedAt)
        }
        const detail = 'must not be specified in container status'
        return allocated.length === 0 ? [] : [forbidden(allocatedAt, detail)]
      }),
    ),
  ]
}

const uidMax = 2 ** 32 - 1

function checkUser(user: Loose | undefined, spec: Loose, path: FieldPath): FieldError[] {
  if (!user?.linux) return []
  if (spec.os?.name === 'windows') return [forbidden(path, 'cannot be set for a windows pod')]
  const { uid = 0, gid = 0, supplementalGroups } = user.linux
  return [
    ...(uid < 0 || uid > uidMax ? [invalid(path.child('uid'), uid, rangeProblem(0, uidMax))] : []),
    ...each(path.child('gid'), gid, groupId(gid)),
    ...((supplementalGroups ?? []) as number[]).flatMap((id, i) =>
      each(path.child('supplementalGroups').index(i), id, groupId(id)),
    ),
  ]
}

const claimPrefix = 'claim:'
const healths = ['Healthy', 'Unhealthy', 'Unknown']
const messageLengthMax = 1024

function checkAllocated(
  allocated: Loose[],
  { name: containerName }: Loose,
  containers: Loose[],
  status: Loose,
  path: FieldPath,
): FieldError[] {
  const container = containers.find(({ name }) => name === containerName)
  return allocated.flatMap(({ name = '', resources }, i) => {
    const at = path.index(i)
    const isKnown = container === undefined || isAllocated(name, container, status)
    const detail = name.startsWith(claimPrefix)
      ? "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty"
      : "must match one of the container's resource requests"
    return [
      ...(isKnown ? [] : [invalid(at.child('name'), name, detail)]),
      ...checkHealths(resources ?? [], at.child('resources')),
    ]
  })
}

function isAllocated(name: string, container: Loose, status: Loose): boolean {
  const { claims, requests } = container.resources ?? {}
  if (!name.startsWith(claimPrefix)) return Object.hasOwn(requests ?? {}, name)
  const used = ((claims ?? []) as Loose[]).map((claim) =>
    claim.request ? `${claim.name ?? ''}/${claim.request}` : (claim.name ?? ''),
  )
  const reference = name.slice(claimPrefix.length)
  if (used.includes(reference)) return true
  const extended: Loose = status.extendedResourceClaimStatus ?? {}
  return ((extended.requestMappings ?? []) as Loose[]).some(
    ({ containerName, requestName, resourceName }) =>
      containerName === container.name &&
      reference === `${extended.resourceClaimName}/${requestName}` &&
      Object.hasOwn(requests ?? {}, resourceName) &&
      !isZeroQuantity(requests[resourceName]),
  )
}

function checkHealths(resources: Loose[], path: FieldPath): FieldError[] {
  const ids = new Set<string>()
  return resources.flatMap(({ resourceID = '', health = '', message }, i) => {
    const at = path.index(i)
    const errors = healths.includes(health)
      ? []
      : [notSupported(at.child('health'), health, healths)]
    if (message === '') {
      errors.push(required(at.child('message'), 'must be non-empty if specified'))
    } else if (typeof message === 'string' && longerThan(message, messageLengthMax)) {
      errors.push(tooLong(at.child('message'), message, messageLengthMax))
    }
    if (ids.has(resourceID)) errors.push(duplicate(at.child('resourceID'), resourceID))
    ids.add(resourceID)
    return errors
  })
}
