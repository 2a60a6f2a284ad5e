/** Conditions of flow schemas and priority levels: each type once, and none without a type. */
import { duplicate, type FieldError, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Context } from '#kinds/kind.ts'

const missingIsExplained = change('a condition without a type must not be empty', { until: 33 })

export function checkFlowConditions(
  object: KubeObject,
  { release }: Pick<Context, 'release'>,
): FieldError[] {
  const words = releaseOf(release).has(missingIsExplained) ? 'must not be empty' : ''
  const seen = new Set<string>()
  const conditions: Loose[] = object.status?.conditions ?? []
  return conditions.flatMap(({ type = '' }, i) => {
    const path = FieldPath.of('status', 'conditions').index(i).child('type')
    const errors: FieldError[] = seen.has(type) ? [duplicate(path, type)] : []
    seen.add(type)
    if (type === '') errors.push(required(path, words))
    return errors
  })
}
