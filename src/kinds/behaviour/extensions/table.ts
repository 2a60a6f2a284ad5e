/** The behaviours of what defines kinds, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { customResourceDefinition } from './definition.ts'

export const extensionBehaviours: Readonly<Record<string, Behaviour>> = {
  'apiextensions.k8s.io/customresourcedefinitions': customResourceDefinition,
}
