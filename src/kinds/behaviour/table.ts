/** Every behaviour by group and plural; the core group is the empty word: '/services'. */
import { columnsOfRelease } from '#kinds/columns/by-release.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { autoscalingBehaviours } from './autoscaling/table.ts'
import { certificateBehaviours } from './certificates/table.ts'
import { clusterBehaviours } from './cluster/table.ts'
import { eventBehaviours } from './events/table.ts'
import { extensionBehaviours } from './extensions/table.ts'
import { flowcontrolBehaviours } from './flowcontrol/table.ts'
import { checkFinalizerNames } from './metadata.ts'
import { networkingBehaviours } from './networking/table.ts'
import { nodeBehaviours } from './node/table.ts'
import { podBehaviours } from './pods/table.ts'
import { policyBehaviours } from './policy/table.ts'
import { rbacBehaviours } from './rbac/table.ts'
import { registrationBehaviours } from './registration/table.ts'
import { serviceBehaviours } from './services/table.ts'
import { storageBehaviours } from './storage/table.ts'
import { workloadBehaviours } from './workloads/table.ts'

/** Kinds whose finalizers may have any qualified name. */
const anyFinalizer = new Set([
  '/events',
  'events.k8s.io/events',
  'coordination.k8s.io/leases',
  'node.k8s.io/runtimeclasses',
  'policy/poddisruptionbudgets',
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'apiregistration.k8s.io/apiservices',
  'apiextensions.k8s.io/customresourcedefinitions',
])

function withFinalizerNames(behaviour: Behaviour): Behaviour {
  const { validateCreate } = behaviour
  return {
    ...behaviour,
    validateCreate: (object, context) => [
      ...checkFinalizerNames(object),
      ...(validateCreate?.(object, context) ?? []),
    ],
  }
}

const own = {
  ...autoscalingBehaviours,
  ...certificateBehaviours,
  ...clusterBehaviours,
  ...eventBehaviours,
  ...extensionBehaviours,
  ...flowcontrolBehaviours,
  ...networkingBehaviours,
  ...nodeBehaviours,
  ...policyBehaviours,
  ...rbacBehaviours,
  ...registrationBehaviours,
  ...serviceBehaviours,
  ...storageBehaviours,
}

export const behaviours: Readonly<Record<string, Behaviour>> = {
  ...Object.fromEntries(
    Object.entries(own).map(([key, behaviour]) => [
      key,
      anyFinalizer.has(key) ? behaviour : withFinalizerNames(behaviour),
    ]),
  ),
  ...podBehaviours,
  ...workloadBehaviours,
}

/** The behaviour of a resource as a release had it, where that shows in its columns. */
export function behaviourOf(key: string, release: number): Behaviour | undefined {
  const behaviour = behaviours[key]
  const columns = columnsOfRelease(key, release, behaviour?.columns)
  if (behaviour === undefined || columns === behaviour.columns) return behaviour
  const { columns: _newest, ...rest } = behaviour
  return columns === undefined ? rest : { ...rest, columns }
}
