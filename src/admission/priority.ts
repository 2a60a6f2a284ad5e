/**
 * The Priority plugin sets the priority of pods and groups of pods from their priority class, and
 * allows only one default class.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { type GiveNumber, groupNumberGiver } from './group-priority.ts'
import { refusal } from './refusal.ts'

const group = 'scheduling.k8s.io'
const podsHavePreemptionPolicy = change('pods have the preemptionPolicy of their priority class', {
  since: 19,
})
const criticalAnywhere = change('pods of any namespace can use the system priority classes', {
  since: 17,
})
const systemClasses = ['system-node-critical', 'system-cluster-critical']

export function priorityPlugin(
  release: number,
  feature: (gate: string) => boolean = () => false,
): AdmissionPlugin {
  const giveGroupNumber = groupNumberGiver(release, feature)
  return {
    name: 'Priority',
    mutate(request, reader) {
      const { kind, operation, subresource } = request
      if (subresource !== '') return
      if (kind.group === group && operation === 'CREATE') {
        const give = giveGroupNumber(kind.plural)
        return give && applyClass(request, reader, give)
      }
      if (kind.plural !== 'pods' || kind.group !== '') return
      if (operation === 'CREATE') {
        if (!releaseOf(release).has(criticalAnywhere)) restrictToSystem(request)
        return applyClass(request, reader, (found) => giveNumber(request, found, release))
      }
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

/** Up to 1.16 only pods in kube-system can use the classes of the system. */
function restrictToSystem(request: AdmissionRequest): void {
  const { namespace, object } = request
  const named = object?.spec?.priorityClassName
  if (!systemClasses.includes(named) || namespace === 'kube-system') return
  throw refusal(
    request,
    `pods with ${named} priorityClass is not permitted in ${namespace} namespace`,
  )
}

/** Gives the object the number of its priority class, or that of the default class. */
function applyClass(
  request: AdmissionRequest,
  reader: ObjectReader,
  give: GiveNumber,
): Awaitable<void> {
  const { spec } = request.object as KubeObject
  const named = spec.priorityClassName
  if (!named) {
    return after(defaultClass(reader), (found) => {
      if (found !== undefined) spec.priorityClassName = found.metadata.name
      give(found, request)
    })
  }
  return after(reader.get(group, 'priorityclasses', '', named), (found) => {
    if (found === undefined) throw refusal(request, `no PriorityClass with name ${named} was found`)
    give(found, request)
  })
}

function giveNumber(
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
  const there = await defaultClass(reader)
  if (there === undefined || there.metadata.name === next.metadata.name) return
  throw refusal(
    request,
    `PriorityClass ${there.metadata.name} is already marked as default. Only one default can exist`,
  )
}
