import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from '#api/field-path.ts'
import { checkModes, oncePodIn } from './access-modes.ts'

const rows: [release: number, on: boolean, used: string[], modes: string[], types: string[]][] = [
  [21, false, [], ['ReadWriteOncePod', 'ReadWriteMany'], ['FieldValueNotSupported']],
  [22, true, [], ['ReadWriteOncePod'], []],
  [22, true, [], ['ReadWriteOncePod', 'ReadWriteMany'], ['FieldValueForbidden']],
  [22, false, ['ReadWriteOncePod'], ['ReadWriteOncePod'], []],
  [
    22,
    false,
    [],
    ['ReadWriteOncePod', 'ReadWriteMany'],
    ['FieldValueNotSupported', 'FieldValueForbidden'],
  ],
]
for (const [release, on, used, modes, types] of rows) {
  test(`1.${release}${on ? '' : ', gate off'}: ${modes} after ${used.join() || 'nothing'}`, () => {
    const once = oncePodIn({ release, feature: () => on }, used)
    const errors = checkModes(modes, FieldPath.of('m'), once)
    assert.deepEqual(
      errors.map(({ type }) => type),
      types,
    )
  })
}
