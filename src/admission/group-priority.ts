/** The priority of a PodGroup or CompositePodGroup, as the Priority plugin sets it. */
import type { KubeObject } from '#api/object-meta.ts'
import { groupPriorityGate } from '#kinds/scheduling/disabled-fields.ts'
import type { AdmissionRequest } from './admission.ts'
import { refusal } from './refusal.ts'

/** Gives an object the number of a priority class. Undefined: there is no default class. */
export type GiveNumber = (found: KubeObject | undefined, request: AdmissionRequest) => void

const policies = ['PreemptLowerPriority', 'Never']

/** Returns undefined for resources that have no priority, and while their gate is off. */
export function groupNumberGiver(
  release: number,
  feature: (gate: string) => boolean,
): (plural: string) => GiveNumber | undefined {
  const withPolicy = feature('PodGroupPreemptionPolicy')
  return (plural) => {
    if (plural === 'podgroups' && feature(groupPriorityGate(release)))
      return (found, request) => giveNumber(request, found, 'pod group', withPolicy)
    if (plural === 'compositepodgroups' && feature('CompositePodGroup'))
      return (found, request) => giveNumber(request, found, 'composite pod group', withPolicy)
    return undefined
  }
}

function giveNumber(
  request: AdmissionRequest,
  found: KubeObject | undefined,
  words: string,
  withPolicy: boolean,
): void {
  const { spec } = request.object as KubeObject
  const value = found?.value ?? 0
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refusal(
      request,
      `priority set in the ${words} (${spec.priority}) must match the priority computed (${value}) based on the priority class set in the spec`,
    )
  }
  spec.priority = value
  if (!withPolicy) return
  const policy = found?.preemptionPolicy ?? 'PreemptLowerPriority'
  if (!policies.includes(policy)) {
    throw refusal(
      request,
      `preemptionPolicy set in the PriorityClass object (${policy}) must match one of the allowed values of PreemptionPolicy type in ${words}`,
    )
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw refusal(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in ${words} spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    )
  }
  spec.preemptionPolicy = policy
}
