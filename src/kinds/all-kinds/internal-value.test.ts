import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invalid, messageWithJson } from '#api/field-error.ts'
import { field, scalar, structOf } from '#schema/make-type.ts'
import { internalValue, withInternalValues } from './internal-value.ts'

test('a value is shown with the Go names of its fields', () => {
  const name = 'io.k8s.api.resource.v1.DeviceSelector'
  const type = structOf(name, [
    field('cel', scalar('string'), 1),
    field('uid', scalar('string'), 2),
  ])
  const error = invalid('spec', internalValue(name, { cel: 'x' }), 'wrong')
  const [shown] = withInternalValues([error], () => type)
  assert.ok(shown)
  assert.match(messageWithJson(shown), /\{"CEL":"x","UID":""\}: wrong$/)
})
