/** Namespace: the phase, the finalizers in the spec, and the label with its name. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsLabel, qualifiedName } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import {
  checkFinalizerName,
  checkMetadata,
  checkMetadataUpdate,
} from '#kinds/all-kinds/metadata.ts'
import { keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { setKey } from '#schema/user-key.ts'

const finalizersPath = FieldPath.of('spec', 'finalizers')
const checkFinalizer = (name: string, path: FieldPath): FieldError[] => [
  ...each(path, name, qualifiedName(name)),
  ...checkFinalizerName(name, path),
]

const check = (namespace: KubeObject): FieldError[] =>
  (namespace.spec?.finalizers ?? []).flatMap((name: string) => checkFinalizer(name, finalizersPath))

function labelWithName(namespace: KubeObject, context: Context): void {
  if (!context.feature('NamespaceDefaultLabelName')) return
  namespace.metadata.labels ??= {}
  setKey(namespace.metadata.labels, 'kubernetes.io/metadata.name', namespace.metadata.name ?? '')
}

function checkPhase(namespace: KubeObject): FieldError[] {
  const phase = namespace.status?.phase ?? ''
  const deleting = Boolean(namespace.metadata.deletionTimestamp)
  if (phase === (deleting ? 'Terminating' : 'Active')) return []
  const detail = deleting
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty"
  return [invalid('status.Phase', phase, detail)]
}

export const namespaceBehaviour: Behaviour = {
  nameRule: nameIsDnsLabel,
  resetFields: [['status']],
  prepareForCreate(object, context) {
    object.status = { phase: 'Active' }
    object.spec ??= {}
    const finalizers: string[] = object.spec.finalizers ?? []
    if (!finalizers.includes('kubernetes')) object.spec.finalizers = [...finalizers, 'kubernetes']
    labelWithName(object, context)
  },
  prepareForUpdate(next, old, context) {
    next.spec ??= {}
    if (old.spec?.finalizers === undefined) delete next.spec.finalizers
    else next.spec.finalizers = [...old.spec.finalizers]
    keepStatus(next, old)
    labelWithName(next, context)
  },
  validateCreate: check,
  validateUpdate: (next, old) => [
    ...checkMetadata(next, false, nameIsDnsLabel),
    ...check(next),
    ...checkMetadataUpdate(next, old),
  ],
  isHeld: ({ spec }) => (spec?.finalizers?.length ?? 0) > 0,
  selectableFields: (object) => ({ 'status.phase': object.status?.phase ?? '' }),
  subresources: {
    status: {
      resetFields: [['spec']],
      prepareForUpdate: (next, old, context) => {
        keepSpec(next, old)
        labelWithName(next, context)
      },
      validateUpdate: (next, old) => [...checkMetadataUpdate(next, old), ...checkPhase(next)],
    },
    finalize: {
      resetFields: [['status']],
      prepareForUpdate: (next, old, context) => {
        keepStatus(next, old)
        labelWithName(next, context)
      },
      validateUpdate: (next, old) => [
        ...checkMetadataUpdate(next, old),
        ...(next.spec?.finalizers ?? []).flatMap((name: string, i: number) =>
          checkFinalizer(name, finalizersPath.index(i)),
        ),
      ],
    },
  },
}
