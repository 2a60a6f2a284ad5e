/**
 * Containers added to a running pod to look into it: fewer settings, and never taken away again.
 */
import { duplicate, type FieldError, fieldNotFound, forbidden, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { samePart } from '#kinds/all-kinds/checks.ts'
import { goDifference } from '#kinds/all-kinds/go-difference.ts'
import { checkContainers, checkImagesOfPod } from '#kinds/pod-template/containers.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'
import type { VolumesByName } from '#kinds/pod-template/volumes.ts'

/**
 * Settings of containers that ephemeral ones may not have, and whether an empty value counts as
 * unset.
 */
const forbiddenFields: readonly (readonly [string, boolean])[] = [
  ['ports', true],
  ['resources', true],
  ['volumeDevices', true],
  ['livenessProbe', false],
  ['readinessProbe', false],
  ['startupProbe', false],
  ['lifecycle', false],
]

export function checkEphemeralContainers(
  spec: Loose,
  volumes: VolumesByName,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const all: Loose[] = spec.ephemeralContainers ?? []
  const errors: FieldError[] = []
  if (all.length === 0) return errors
  const others: Loose[] = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  const names = new Set<string>(others.map((container) => container.name ?? ''))
  all.forEach((container, i) => {
    const at = path.index(i)
    const { name = '', targetContainerName: target = '' } = container
    if (target !== '' && !names.has(target)) {
      errors.push(fieldNotFound(at.child('targetContainerName'), target))
    }
    if (name === '') {
      errors.push(required(at, 'ephemeralContainer requires a name'))
      return
    }
    errors.push(...checkContainers([container], false, volumes, at, rules))
    errors.push(...checkImagesOfPod([container], at))
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    names.add(name)
    for (const [field, emptyIsUnset] of forbiddenFields) {
      if (!isSet(container[field], emptyIsUnset)) continue
      errors.push(forbidden(at.child(field), 'cannot be set for an Ephemeral Container'))
    }
  })
  return errors
}

function isSet(value: unknown, emptyIsUnset: boolean): boolean {
  if (value === undefined || value === null) return false
  return !emptyIsUnset || Object.keys(value).length > 0
}

/**
 * What may change through the ephemeralcontainers subresource: more of them, and none of those
 * there.
 */
export function checkEphemeralContainersUpdate(
  next: KubeObject,
  old: KubeObject,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const volumes = new Map<string, Loose>(
    (next.spec.volumes ?? []).map((volume: Loose) => [volume.name ?? '', volume]),
  )
  const errors = checkEphemeralContainers(next.spec, volumes, path, rules)
  const byName = new Map<string, Loose>(
    (next.spec.ephemeralContainers ?? []).map((container: Loose) => [
      container.name ?? '',
      container,
    ]),
  )
  for (const before of (old.spec.ephemeralContainers ?? []) as Loose[]) {
    const after = byName.get(before.name ?? '')
    const which = `existing ephemeral containers ${goQuote(before.name ?? '')} may not be`
    if (after === undefined) errors.push(forbidden(path, `${which} removed\n`))
    else if (!samePart(before, after)) {
      const difference = goDifference('core.EphemeralContainer', before, after)
      errors.push(forbidden(path, `${which} changed\n${difference}`))
    }
  }
  return errors
}
