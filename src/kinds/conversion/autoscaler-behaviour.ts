/**
 * How fast an autoscaler scales, as an annotation for versions without a field for it. The original writes its inner
 * form there, whose fields have Go's names: {"ScaleUp":{"StabilizationWindowSeconds":0,…},"ScaleDown":null}.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { annotate, annotationOf, fromJson, goJson } from './annotations.ts'

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

export function behaviourFromAnnotation(object: KubeObject): void {
  const inner = fromJson(annotationOf(object, behaviourKey))
  if (typeof inner !== 'object' || inner === null) return
  const behaviour: Loose = {}
  for (const field of ['scaleUp', 'scaleDown']) {
    const rules = valueOf(inner as Loose, field)
    if (typeof rules === 'object' && rules !== null) behaviour[field] = rulesFrom(rules)
  }
  if (Object.keys(behaviour).length > 0) object.spec.behavior = behaviour
}

/** Go finds a field whatever the case of its letters. */
function valueOf(object: Loose, field: string): unknown {
  const key = Object.keys(object).find((name) => name.toLowerCase() === field.toLowerCase())
  return key === undefined ? undefined : object[key]
}

function rulesFrom(inner: Loose): Loose {
  const rules: Loose = {}
  for (const field of ['stabilizationWindowSeconds', 'selectPolicy']) {
    const value = valueOf(inner, field)
    if (value !== undefined && value !== null) rules[field] = value
  }
  const policies = valueOf(inner, 'policies')
  if (!Array.isArray(policies)) return rules
  rules.policies = policies.map((policy: Loose) => ({
    type: valueOf(policy, 'type') ?? '',
    value: valueOf(policy, 'value') ?? 0,
    periodSeconds: valueOf(policy, 'periodSeconds') ?? 0,
  }))
  return rules
}
