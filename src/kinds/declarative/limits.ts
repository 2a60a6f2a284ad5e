/** Rules that compare a size or a number with a limit. */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { longerThan } from '#api/names.ts'
import { type DeclaredCheck, from } from './check.ts'

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`

const tooLong = (path: FieldPath, limit: string): FieldError => ({
  type: 'FieldValueTooLong',
  field: path.toString(),
  message: `Too long: may not be more than ${limit}`,
})

export const tooLongBytes = (path: FieldPath, max: number): FieldError =>
  tooLong(path, counted(max, 'byte'))

const tooMany = (path: FieldPath, count: number, max: number): FieldError => ({
  type: 'FieldValueTooMany',
  field: path.toString(),
  message: `Too many: ${count}: must have at most ${counted(max, 'item')}`,
})

const lengthOf = (text: string): number => [...text].length

/** By the name of the rule: it gets the limit and yields the check. */
export const limits: ReadonlyMap<string, (limit: number) => DeclaredCheck> = new Map([
  [
    'maxItems',
    (max) =>
      ({ value, path }) =>
        (value?.length ?? 0) > max ? [from('maxItems', tooMany(path, value.length, max))] : [],
  ],
  [
    'maxLength',
    (max) =>
      ({ value, path }) =>
        typeof value === 'string' && lengthOf(value) > max
          ? [from('maxLength', tooLong(path, counted(max, 'character')))]
          : [],
  ],
  [
    'maxBytes',
    (max) =>
      ({ value, path }) =>
        typeof value === 'string' && longerThan(value, max)
          ? [from('maxBytes', tooLongBytes(path, max))]
          : [],
  ],
  [
    'minimum',
    (min) =>
      ({ value, path }) =>
        value !== undefined && value < min
          ? [from('minimum', invalid(path, value, `must be greater than or equal to ${min}`))]
          : [],
  ],
  [
    'maximum',
    (max) =>
      ({ value, path }) =>
        value !== undefined && value > max
          ? [from('maximum', invalid(path, value, `must be less than or equal to ${max}`))]
          : [],
  ],
])
