/** The required fields of a condition, by release. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from '#api/field-path.ts'
import { releaseOf } from '#api/releases/change.ts'
import { linesOf } from './behaviour.suite.ts'
import { checkConditions } from './conditions.ts'

for (const [release, type, status, required] of [
  [33, 'Invalid value', 'Unsupported value', 'Required value: must be set'],
  [34, 'Invalid value', 'Unsupported value', 'Required value'],
  [36, 'Invalid value', 'Unsupported value', 'Required value'],
  [37, 'Required value: is required', 'Required value', 'Required value'],
] as const)
  test(`an empty condition in 1.${release}`, () => {
    const lines = linesOf(checkConditions([{}], FieldPath.of('c'), releaseOf(release)))
    const at = (field: string) => lines.filter((line) => line.startsWith(`c[0].${field}: `))
    assert.ok(at('type').every((line) => line.startsWith(`c[0].type: ${type}`)))
    assert.ok(at('status')[0]?.startsWith(`c[0].status: ${status}`))
    assert.deepEqual(at('lastTransitionTime'), [`c[0].lastTransitionTime: ${required}`])
    assert.deepEqual(at('reason'), [`c[0].reason: ${required}`])
  })

for (const [release, field] of [
  [36, 'c[1].type'],
  [37, 'c[1]'],
] as const)
  test(`a repeated condition in 1.${release}`, () => {
    const one = { type: 'A', status: 'True', reason: 'R', lastTransitionTime: 'then' }
    const lines = linesOf(checkConditions([one, one], FieldPath.of('c'), releaseOf(release)))
    assert.deepEqual(lines, [`${field}: Duplicate value: "A"`])
  })
