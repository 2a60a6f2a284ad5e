/**
 * The Priority plugin sets the priority of pods from their priority class, and allows only one
 * default class.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { refusal } from './refusal.ts'

const group = 'scheduling.k8s.io'
const podsHavePreemptionPolicy = change('pods have the preemptionPolicy of their priority class', {
  since: 19,
})
const criticalAnywhere = change('pods of any namespace can use the system priority classes', {
  since: 17,
})
const systemClasses = ['system-node-critical', 'system-cluster-critical']

export function priorityPlugin(release: number): AdmissionPlugin {
  return {
    name: 'Priority',
    mutate(request, reader) {
      const { kind, operation, subresource } = request
      if (kind.plural !== 'pods' || kind.group !== '' || subresource !== '') return
      if (operation === 'CREATE') return applyClass(request, reader, release)
      if (operation === 'UPDATE') keepPriority(request, release)
    },
    validate(request, reader) {
      const { kind, operation } = request
      if (kind.plural !== 'priorityclasses' || kind.group !== group) return
      if (operation === 'CREATE' || operation === 'UPDATE') return onlyOneDefault(request, reader)
    },
  }
}

/** Updates by older clients omit the fields that the server has set. */
function keepPriority(request: AdmissionRequest, release: number): void {
  const [pod, old] = [request.object as KubeObject, request.old as KubeObject]
  if (pod.spec.priority === undefined && old.spec.priority !== undefined)
    pod.spec.priority = old.spec.priority
  if (!releaseOf(release).has(podsHavePreemptionPolicy)) return
  if (pod.spec.preemptionPolicy === undefined && old.spec.preemptionPolicy !== undefined) {
    pod.spec.preemptionPolicy = old.spec.preemptionPolicy
  }
}

/** Finds the priority class of a new pod, or the default class, and sets what it defines. */
function applyClass(
  request: AdmissionRequest,
  reader: ObjectReader,
  release: number,
): Awaitable<void> {
  const { spec } = request.object as KubeObject
  const named = spec.priorityClassName
  if (!named) {
    return after(defaultClass(reader), (found) => {
      if (found !== undefined) spec.priorityClassName = found.metadata.name
      setPriority(request, found, release)
    })
  }
  const { namespace } = request
  if (
    !releaseOf(release).has(criticalAnywhere) &&
    systemClasses.includes(named) &&
    namespace !== 'kube-system'
  ) {
    throw refusal(
      request,
      `pods with ${named} priorityClass is not permitted in ${namespace} namespace`,
    )
  }
  return after(reader.get(group, 'priorityclasses', '', named), (found) => {
    if (found === undefined) throw refusal(request, `no PriorityClass with name ${named} was found`)
    setPriority(request, found, release)
  })
}

/** Sets priority and preemptionPolicy. Without a class, they get the values of no priority. */
function setPriority(
  request: AdmissionRequest,
  found: KubeObject | undefined,
  release: number,
): void {
  const { spec } = request.object as KubeObject
  const refuse = (why: string) => refusal(request, why)
  const value = found?.value ?? 0
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refuse(
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    )
  }
  spec.priority = value
  if (!releaseOf(release).has(podsHavePreemptionPolicy)) return
  const policy = found?.preemptionPolicy ?? 'PreemptLowerPriority'
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw refuse(
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    )
  }
  spec.preemptionPolicy = policy
}

/**
 * Concurrent creates can lead to several default classes; the one with the lowest value is used.
 */
function defaultClass(reader: ObjectReader): Awaitable<KubeObject | undefined> {
  return after(reader.list(group, 'priorityclasses'), (classes) => {
    let lowest: KubeObject | undefined
    for (const one of classes) {
      if (one.globalDefault === true && (lowest === undefined || one.value < lowest.value))
        lowest = one
    }
    return lowest
  })
}

async function onlyOneDefault(request: AdmissionRequest, reader: ObjectReader): Promise<void> {
  const next = request.object as KubeObject
  if (next.globalDefault !== true) return
  const existing = await defaultClass(reader)
  if (existing === undefined || existing.metadata.name === next.metadata.name) return
  throw refusal(
    request,
    `PriorityClass ${existing.metadata.name} is already marked as default. Only one default can exist`,
  )
}
