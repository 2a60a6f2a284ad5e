/** Drops fields of pod groups and their templates whose feature gate is off, unless in use. */
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { dropUnlessUsed } from '#kinds/all-kinds/strategy.ts'
import type { Context } from '#kinds/kind.ts'

const alwaysHavePriority = change('pod groups have priority and disruption mode without a gate', {
  since: 37,
})

/** The gate of the priority of a PodGroup. From 1.37 on it is that of the kind itself. */
export const groupPriorityGate = (release: number): string =>
  releaseOf(release).has(alwaysHavePriority) ? 'GenericWorkload' : priorityGate

const gated: readonly (readonly [gate: string, field: string])[] = [
  ['TopologyAwareWorkloadScheduling', 'schedulingConstraints'],
  ['DRAWorkloadResourceClaims', 'resourceClaims'],
  ['PodGroupPreemptionPolicy', 'preemptionPolicy'],
  ['CompositePodGroup', 'parentCompositePodGroupName'],
]

const priorityGate = 'WorkloadAwarePreemption'
const priorityFields = ['disruptionMode', 'priorityClassName', 'priority']

/** Null, an empty list and an empty text count as unset. */
const isUsed = (holder: Loose | undefined, field: string): boolean => {
  const value = holder?.[field]
  return (
    value !== undefined &&
    value !== null &&
    value !== '' &&
    !(Array.isArray(value) && value.length === 0)
  )
}

/** For the spec of a PodGroup, and for the template of one in a Workload. */
export function dropDisabledOfGroup(
  next: Loose | undefined,
  old: Loose | undefined,
  { feature, release }: Context,
): void {
  for (const [gate, field] of gated) dropUnlessUsed(next, field, feature(gate), isUsed(old, field))
  if (releaseOf(release).has(alwaysHavePriority)) return
  for (const field of priorityFields)
    dropUnlessUsed(next, field, feature(priorityGate), isUsed(old, field))
}

/** For the spec of a CompositePodGroup, and for the template of one. */
export function dropDisabledOfComposite(
  next: Loose | undefined,
  old: Loose | undefined,
  { feature }: Context,
): void {
  const field = 'preemptionPolicy'
  dropUnlessUsed(next, field, feature('PodGroupPreemptionPolicy'), isUsed(old, field))
}

type Templates = { [field in 'podGroupTemplates' | 'compositePodGroupTemplates']?: Loose[] }

/** For the templates of a Workload: those of pod groups match by position, others by name. */
export function dropDisabledOfTemplates(
  next: Templates,
  old: Templates | undefined,
  context: Context,
): void {
  const before = old?.podGroupTemplates ?? []
  for (const [i, template] of (next.podGroupTemplates ?? []).entries()) {
    const hadConstraints = template.schedulingConstraints !== undefined
    dropDisabledOfGroup(template, before[i], context)
    // kube-apiserver always writes this field of a template.
    if (hadConstraints) template.schedulingConstraints ??= null
  }
  const field = 'compositePodGroupTemplates'
  const isOn = context.feature('CompositePodGroup')
  dropUnlessUsed(next as Record<string, unknown>, field, isOn, isUsed(old as Loose, field))
  const named = new Map(old?.[field]?.map((template) => [template.name, template]))
  for (const template of next[field] ?? []) {
    dropDisabledOfComposite(template, named.get(template.name), context)
    dropDisabledOfTemplates(template as Templates, named.get(template.name), context)
  }
}
