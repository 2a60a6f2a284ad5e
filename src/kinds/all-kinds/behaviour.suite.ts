/** How behaviours are tested: an object, what is wrong with it, in lines as `field: message`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldError } from '#api/field-error.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

export function contextFor(over: Partial<Context> = {}, features: string[] = []): Context {
  return {
    release: 22,
    feature: (gate) => features.includes(gate),
    now: '2024-05-06T07:08:09Z',
    namespace: 'default',
    ...over,
  }
}

export const named = (fields: Loose = {}, meta: Loose = {}): KubeObject => ({
  ...fields,
  metadata: { name: 'a', uid: 'u', resourceVersion: '1', ...meta },
})

/** The same in a namespace. */
export const inDefault = (fields: Loose = {}, meta: Loose = {}): KubeObject =>
  named(fields, { namespace: 'default', ...meta })

export const linesOf = (errors: FieldError[]): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)

/** The name of the case, the new object, and its expected errors. */
export type CreateCase = [string, KubeObject, string[], Context?]

export function checkCreate(behaviour: Behaviour, cases: CreateCase[]): void {
  for (const [title, object, expected, context = contextFor()] of cases) {
    test(title, () => {
      const errors = behaviour.validateCreate?.(structuredClone(object), context) ?? []
      assert.deepEqual(linesOf(errors), expected)
    })
  }
}

/** The name of the case, the old object, the new object, and the expected errors of the update. */
export type UpdateCase = [string, KubeObject, KubeObject, string[], Context?]

export function checkUpdate(behaviour: Behaviour, cases: UpdateCase[]): void {
  for (const [title, old, next, expected, context = contextFor()] of cases) {
    test(title, () => {
      const changed = structuredClone(next)
      const errors = behaviour.validateUpdate?.(changed, structuredClone(old), context) ?? []
      assert.deepEqual(linesOf(errors), expected)
    })
  }
}
