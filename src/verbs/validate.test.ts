import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldError, invalid, problemsMax } from '#api/field-error.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Context, Kind } from '#kinds/kind.ts'
import { refuseInvalidNew, refuseInvalidUpdate } from './validate.ts'

test('an object may have more errors than a call has arguments', () => {
  const error = invalid('spec', 1, 'must be 2')
  const errors = Array.from({ length: 200_000 }, () => error)
  const behaviour = { validateCreate: () => errors, validateUpdate: () => errors }
  const resource = { errorGroup: '', hub: { kind: 'Thing' }, behaviour }
  const kind = { namespaced: false, resource } as unknown as Kind
  const object = { kind: 'Thing', metadata: { name: 'a', uid: 'u' } } as KubeObject
  const context = { release: 22 } as Context
  const wants = { code: 422, message: /^Thing "a" is invalid: / }
  assert.throws(() => refuseInvalidNew(kind, object, context), wants)
  assert.throws(() => refuseInvalidUpdate(kind, '', object, object, context), wants)
})

test('the number of reported errors is limited', () => {
  let made = 0
  const wrong = () => {
    made++
    return invalid('spec.items', made, 'must be 0')
  }
  const errors = () => {
    const all: FieldError[] = []
    all.push(...Array.from({ length: 200_000 }, wrong))
    return all
  }
  const behaviour = { validateCreate: errors, validateUpdate: errors }
  const resource = { errorGroup: '', hub: { kind: 'Thing' }, behaviour }
  const kind = { namespaced: false, resource } as unknown as Kind
  const object = { kind: 'Thing', metadata: { name: 'a', uid: 'u' } } as KubeObject
  const context = { release: 22 } as Context
  const wants = { code: 422, message: /^Thing "a" is invalid: \[spec\.items: Invalid value: 1: / }
  assert.throws(() => refuseInvalidNew(kind, object, context), wants)
  assert.equal(made, problemsMax)
  assert.throws(() => refuseInvalidUpdate(kind, '', object, object, context), { code: 422 })
  // Errors that are made outside a check are not counted.
  assert.equal(Array.from({ length: problemsMax + 1 }, wrong).length, problemsMax + 1)
})
