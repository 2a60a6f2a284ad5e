/**
 * Stores `spec.behavior` in an annotation for versions without the field. The annotation has
 * kube-apiserver's internal form with Go field names:
 *   {"ScaleUp":{"StabilizationWindowSeconds":0,…},"ScaleDown":null}
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import { annotate, annotationOf, goJson } from '#kinds/all-kinds/annotations.ts'

const load = loadLater<typeof import('./autoscaler-annotation.ts')>(
  import.meta.url,
  './autoscaler-annotation',
)

export const behaviourKey = 'autoscaling.alpha.kubernetes.io/behavior'

const goRules = (rules: Loose | undefined): Loose | null =>
  rules === undefined
    ? null
    : {
        StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
        SelectPolicy: rules.selectPolicy ?? null,
        Policies:
          rules.policies?.map(({ type = '', value = 0, periodSeconds = 0 }: Loose) => ({
            Type: type,
            Value: value,
            PeriodSeconds: periodSeconds,
          })) ?? null,
      }

export function behaviourToAnnotation(object: KubeObject): void {
  const behaviour = object.spec?.behavior
  if (!behaviour) return
  delete object.spec.behavior
  const inner = { ScaleUp: goRules(behaviour.scaleUp), ScaleDown: goRules(behaviour.scaleDown) }
  annotate(object, behaviourKey, goJson(inner))
}

export const windowIsOptional = change(
  'autoscalers leave out a stabilization window that is not set',
  { since: 20 },
)

export function behaviourFromAnnotation(object: KubeObject, release: number): void {
  const text = annotationOf(object, behaviourKey)
  const inner = text === undefined ? undefined : load().readBehaviour(text)
  if (inner === undefined) return
  const behaviour: Loose = {}
  if (inner.ScaleUp) behaviour.scaleUp = rulesFrom(inner.ScaleUp, release)
  if (inner.ScaleDown) behaviour.scaleDown = rulesFrom(inner.ScaleDown, release)
  if (Object.keys(behaviour).length > 0) object.spec.behavior = behaviour
}

function rulesFrom(
  { StabilizationWindowSeconds, SelectPolicy, Policies }: Loose,
  release: number,
): Loose {
  const rules: Loose = {}
  if (StabilizationWindowSeconds !== undefined || !releaseOf(release).has(windowIsOptional)) {
    rules.stabilizationWindowSeconds = StabilizationWindowSeconds ?? null
  }
  if (SelectPolicy !== undefined) rules.selectPolicy = SelectPolicy
  if (Policies === undefined) return rules
  rules.policies = Policies.map(({ Type = '', Value = 0, PeriodSeconds = 0 }: Loose) => ({
    type: Type,
    value: Value,
    periodSeconds: PeriodSeconds,
  }))
  return rules
}
