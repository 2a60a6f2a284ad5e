/** How versions of a resource become its hub version and back, by resource and apiVersion; those alike need no row. */
import { autoscalerConversions } from './autoscaler.ts'
import type { Conversions } from './conversion.ts'
import { definitionConversions } from './custom-resource-definition.ts'
import { disruptionBudgetConversions } from './disruption-budget.ts'
import { endpointSliceConversions } from './endpoint-slice.ts'
import { eventConversions } from './event.ts'
import { ingressConversions } from './ingress.ts'
import { bindingConversions } from './rbac.ts'
import { runtimeClassConversions } from './runtime-class.ts'
import { daemonSetConversions, deploymentConversions, statefulSetConversions } from './workloads.ts'

export type { Conversion } from './conversion.ts'

export const conversions: Readonly<Record<string, Conversions>> = {
  '/events': eventConversions,
  'events.k8s.io/events': eventConversions,
  'apiextensions.k8s.io/customresourcedefinitions': definitionConversions,
  'apps/daemonsets': daemonSetConversions,
  'apps/deployments': deploymentConversions,
  'apps/statefulsets': statefulSetConversions,
  'autoscaling/horizontalpodautoscalers': autoscalerConversions,
  'discovery.k8s.io/endpointslices': endpointSliceConversions,
  'networking.k8s.io/ingresses': ingressConversions,
  'extensions/ingresses': ingressConversions,
  'node.k8s.io/runtimeclasses': runtimeClassConversions,
  'policy/poddisruptionbudgets': disruptionBudgetConversions,
  'rbac.authorization.k8s.io/rolebindings': bindingConversions,
  'rbac.authorization.k8s.io/clusterrolebindings': bindingConversions,
}
