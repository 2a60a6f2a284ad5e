import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invalid } from '#api/field-error.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Context, Kind } from '#kinds/kind.ts'
import { refuseInvalidNew, refuseInvalidUpdate } from './validate.ts'

test('more may be wrong with an object than a call takes', () => {
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
