/** Shared behaviour of ReplicaSet and ReplicationController. */
import type { FieldError } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { type ReleaseChange, releaseOf } from '#api/releases/change.ts'
import {
  checkFinalizerNames,
  checkMetadata,
  checkMetadataUpdate,
} from '#kinds/all-kinds/metadata.ts'
import { dropUnlessUsed, keepSpec, keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context, SubresourceBehaviour } from '#kinds/kind.ts'
import { type PodRules, podRules } from '#kinds/pod-template/pod-rules.ts'
import { prepareTemplate } from '#kinds/pod-template/prepare-template.ts'
import { checkCounts, checkParts } from './status-numbers.ts'

const specPath = FieldPath.of('spec')

const statusPath = FieldPath.of('status')

export type SpecCheck = (spec: Loose, path: FieldPath, rules: PodRules, old?: Loose) => FieldError[]

const statusCounts = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
  'terminatingReplicas',
]

/**
 * The number of pods that are being deleted is written where its feature is on, or the number was
 * there before.
 */
export function dropTerminating(next: KubeObject, old: KubeObject, context: Context): void {
  const isUsed = (old.status?.terminatingReplicas ?? undefined) !== undefined
  const isOn = context.feature('DeploymentReplicaSetTerminatingReplicas')
  dropUnlessUsed(next.status, 'terminatingReplicas', isOn, isUsed)
}

export const status: SubresourceBehaviour = {
  prepareForUpdate: keepSpec,
  validateUpdate(next, old) {
    const after: Loose = next.status ?? {}
    const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']
    return [
      ...checkMetadataUpdate(next, old),
      ...checkCounts(after, statusCounts, statusPath),
      ...checkParts(after, parts, statusPath),
    ]
  },
  resetFields: [['spec']],
}

const rulesOf = (next: KubeObject, old: KubeObject | undefined, context: Context): PodRules =>
  podRules(context, next.spec?.template ?? undefined, old?.spec?.template ?? undefined)

/**
 * The common strategy and validation. In releases before `checkedOnce`, updates run the whole
 * validation twice, as kube-apiserver does.
 */
export function replicas(
  checkSpec: SpecCheck,
  checkedOnce: ReleaseChange,
  checkChange: (next: KubeObject, old: KubeObject, context: Context) => FieldError[],
): Behaviour {
  const check = (next: KubeObject, old: KubeObject | undefined, context: Context) =>
    checkSpec(next.spec, specPath, rulesOf(next, old, context), old?.spec)
  return {
    prepareForCreate(object, context) {
      object.status = { replicas: 0 }
      object.metadata.generation = 1
      prepareTemplate(object.spec.template, undefined, context)
    },
    prepareForUpdate(next, old, context) {
      keepStatus(next, old)
      prepareTemplate(next.spec.template, old.spec.template, context)
      raiseGeneration(next, old, ['spec'])
    },
    validateCreate: (object, context) => [
      ...checkFinalizerNames(object),
      ...check(object, undefined, context),
    ],
    validateUpdate(next, old, context) {
      if (releaseOf(context.release).has(checkedOnce)) {
        return [
          ...checkMetadataUpdate(next, old),
          ...check(next, old, context),
          ...checkChange(next, old, context),
        ]
      }
      return [
        ...checkMetadata(next, true, nameIsDnsSubdomain),
        ...check(next, old, context),
        ...checkMetadataUpdate(next, old),
        ...check(next, old, context),
        ...checkChange(next, old, context),
      ]
    },
    resetFields: [['status']],
    subresources: { status },
  }
}
