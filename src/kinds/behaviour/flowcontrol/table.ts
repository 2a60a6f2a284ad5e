/** The behaviours of flowcontrol.apiserver.k8s.io, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { flowSchema } from './flow-schema.ts'
import { priorityLevelConfiguration } from './priority-level-configuration.ts'

export const flowcontrolBehaviours: Readonly<Record<string, Behaviour>> = {
  'flowcontrol.apiserver.k8s.io/flowschemas': flowSchema,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': priorityLevelConfiguration,
}
