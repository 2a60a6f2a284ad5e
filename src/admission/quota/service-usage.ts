/** The quota usage of a service: the service itself, its load balancer and its node ports. */
import type { Loose } from '#api/object-meta.ts'
import { quantityOf } from '#api/quantity.ts'
import type { Evaluator, Settings } from './evaluator.ts'

const counted = new Set([
  'count/services',
  'services',
  'services.nodeports',
  'services.loadbalancers',
])

export function serviceEvaluator({ feature }: Settings): Evaluator {
  const portControl = feature('ServiceLBNodePortControl')
  return {
    handles: ({ operation, subresource }) =>
      subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
    counts: (name) => counted.has(name),
    inScope: () => false,
    mayUseLess: () => true,
    usage({ spec }) {
      const balanced = spec.type === 'LoadBalancer'
      return new Map([
        ['count/services', quantityOf(1)],
        ['services', quantityOf(1)],
        ['services.loadbalancers', quantityOf(balanced ? 1 : 0)],
        ['services.nodeports', quantityOf(nodePorts(spec, portControl))],
      ])
    },
  }
}

/** Node ports are not allocated yet when quotas are checked, so the type of the service decides. */
function nodePorts(
  { type, ports = [], allocateLoadBalancerNodePorts }: Loose,
  portControl: boolean,
): number {
  if (type !== 'NodePort' && type !== 'LoadBalancer') return 0
  const suppressed =
    type === 'LoadBalancer' && portControl && allocateLoadBalancerNodePorts === false
  return suppressed ? ports.filter(({ nodePort }: Loose) => nodePort).length : ports.length
}
