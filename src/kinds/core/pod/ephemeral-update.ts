/** Changes of the ephemeral containers of a pod: they are never taken away again. */
import { type FieldError, forbidden } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change } from '#api/releases/change.ts'
import { samePart } from '#kinds/all-kinds/checks.ts'
import { goDifference } from '#kinds/all-kinds/go-difference.ts'
import { forbiddenChange } from '#kinds/all-kinds/internal-difference.ts'
import { isMirrorPod } from '#kinds/pod-template/pod-annotations.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'
import { checkEphemeralContainers } from './ephemeral-containers.ts'
import { checkChangedPod } from './pod-update.ts'

const checksWholePod = change('a change of ephemeral containers validates the whole pod', {
  since: 23,
})
const mirrorsHaveNone = change('mirror pods have no ephemeral containers', { since: 27 })

/**
 * Validates updates of the ephemeralcontainers subresource: containers may be added; existing ones
 * must not change.
 */
export function checkEphemeralContainersUpdate(
  next: KubeObject,
  old: KubeObject,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  if (rules.has(mirrorsHaveNone) && isMirrorPod(old)) {
    return [forbidden('[]', 'static pods do not support ephemeral containers')]
  }
  const errors = rules.has(checksWholePod)
    ? checkChangedPod(next, old, rules)
    : checkEphemeralContainers({ ...scopeBefore25(next), rules }, path)
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
      const sentence = `${which} changed`
      const difference = goDifference('core.EphemeralContainer', before, after)
      const type = 'io.k8s.api.core.v1.EphemeralContainer'
      const before34 = `${sentence}\n${difference}`
      errors.push(forbiddenChange(path, { type, sentence, old: before, next: after, before34 }))
    }
  }
  return errors
}

const scopeBefore25 = ({ spec }: KubeObject) => ({
  spec: spec as Loose,
  volumes: new Map<string, Loose>(
    (spec.volumes ?? []).map((volume: Loose) => [volume.name ?? '', volume]),
  ),
  claims: new Set<string>(),
})
