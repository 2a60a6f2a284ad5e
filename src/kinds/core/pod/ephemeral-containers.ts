/** Validation of ephemeral containers, which have fewer settings than other containers. */
import { duplicate, type FieldError, fieldNotFound, forbidden, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { hasWrittenEmpty, wasWrittenEmpty } from '#api/written-empty.ts'
import { change } from '#api/releases/change.ts'
import type { Loose } from '#api/object-meta.ts'
import {
  checkContainer,
  checkContainersBefore25,
  checkImageOfPod,
  checkImagesOfPod,
  type ContainerScope,
} from '#kinds/pod-template/containers.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'

const blockDevicesAllowed = change('ephemeral containers can have block devices and no subPath', {
  since: 23,
})
const likeOtherContainers = change('errors of ephemeral containers are like those of others', {
  since: 25,
})

/**
 * Container fields that ephemeral containers must not have, and whether an empty value counts as
 * unset.
 */
const forbiddenFields: readonly (readonly [string, boolean])[] = [
  ['ports', true],
  ['resources', true],
  ['volumeDevices', true],
  ['resizePolicy', true],
  ['restartPolicy', false],
  ['restartPolicyRules', true],
  ['livenessProbe', false],
  ['readinessProbe', false],
  ['startupProbe', false],
  ['lifecycle', false],
]

export function checkEphemeralContainers(scope: ContainerScope, path: FieldPath): FieldError[] {
  const { spec, rules } = scope
  const all: Loose[] = spec.ephemeralContainers ?? []
  if (all.length === 0) return []
  const others: Loose[] = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  const names = new Set<string>(others.map((container) => container.name ?? ''))
  const targets = rules.has(likeOtherContainers) ? new Set(names) : names
  return all.flatMap((container, i) => {
    const at = path.index(i)
    const { name = '', targetContainerName: target = '' } = container
    const untargeted =
      target !== '' && !targets.has(target)
        ? [fieldNotFound(at.child('targetContainerName'), target)]
        : []
    const errors = names.has(name) ? [duplicate(at.child('name'), name)] : []
    const forbiddenParts = checkForbiddenParts(container, at, rules)
    if (rules.has(likeOtherContainers)) {
      names.add(name)
      return [
        ...checkContainer(container, scope, at),
        ...checkImageOfPod(container, at),
        ...errors,
        ...untargeted,
        ...forbiddenParts,
      ]
    }
    if (name === '') return [...untargeted, required(at, 'ephemeralContainer requires a name')]
    names.add(name)
    return [
      ...untargeted,
      ...checkContainersBefore25([container], false, scope, at),
      ...checkImagesOfPod([container], at),
      ...errors,
      ...forbiddenParts,
    ]
  })
}

function checkForbiddenParts(container: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (at: FieldPath) =>
    errors.push(forbidden(at, 'cannot be set for an Ephemeral Container'))
  for (const [field, emptyIsUnset] of forbiddenFields) {
    if (field === 'volumeDevices' && rules.has(blockDevicesAllowed)) continue
    const isWritten = emptyIsUnset && holdsEmpty(container, field)
    if (isWritten || isSet(container[field], emptyIsUnset)) refuse(path.child(field))
  }
  if (!rules.has(blockDevicesAllowed)) return errors
  ;((container.volumeMounts ?? []) as Loose[]).forEach((mount, i) => {
    const at = path.child('volumeMounts').index(i)
    for (const field of ['subPath', 'subPathExpr']) if (mount[field]) refuse(at.child(field))
  })
  return errors
}

/** A list without items is not unset, nor is a structure that holds one. */
const holdsEmpty = (container: Loose, field: string): boolean =>
  wasWrittenEmpty(container, field) || hasWrittenEmpty(container[field])

function isSet(value: unknown, emptyIsUnset: boolean): boolean {
  if (value === undefined || value === null) return false
  return !emptyIsUnset || Object.keys(value).length > 0
}
