/** The behaviours of node.k8s.io, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { runtimeClass } from './runtime-class.ts'

export const nodeBehaviours: Readonly<Record<string, Behaviour>> = {
  'node.k8s.io/runtimeclasses': runtimeClass,
}
