/** The behaviours of networking.k8s.io, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { ingress } from './ingress.ts'
import { ingressClass } from './ingress-class.ts'
import { networkPolicy } from './network-policy.ts'

export const networkingBehaviours: Readonly<Record<string, Behaviour>> = {
  'networking.k8s.io/ingresses': ingress,
  'networking.k8s.io/ingressclasses': ingressClass,
  'networking.k8s.io/networkpolicies': networkPolicy,
}
