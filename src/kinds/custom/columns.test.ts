import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, KubeObject } from '#api/object-meta.ts'
import { customColumns } from './columns.ts'

const now = Date.parse('2021-08-04T18:00:00Z')

const cellOf = (type: string, jsonPath: string, spec: Json): unknown => {
  const object = { metadata: { name: 'g' }, spec } as unknown as KubeObject
  return customColumns([{ name: 'C', type, jsonPath }]).cells(object, now)[1]
}

const cells: [type: string, value: Json, cell: unknown][] = [
  ['string', 'a<b', 'a<b'],
  ['string', '', ''],
  ['string', null, '<no value>'],
  ['string', true, 'true'],
  ['string', 7, '7'],
  ['string', 2 ** 60, '1152921504606846976'],
  ['string', 9007199254740993n as unknown as Json, '9007199254740993'],
  ['string', 1234567.5, '1.2345675e+06'],
  ['string', 1e20, '1e+20'],
  ['string', 0.00001, '1e-05'],
  ['string', { b: '<', a: [1, null] }, '{"a":[1,null],"b":"\\u003c"}'],
  ['string', [], '[]'],
  ['integer', 7, 7],
  ['integer', -1.9, -1],
  ['integer', 1e20, -(2n ** 63n)],
  ['integer', 9007199254740993n as unknown as Json, 9007199254740993n],
  ['integer', '7', null],
  ['integer', true, null],
  ['number', 1.5, 1.5],
  ['number', 7, 7],
  ['number', 9007199254740993n as unknown as Json, 9007199254740992],
  ['number', '1.5', null],
  ['boolean', false, false],
  ['boolean', 'false', null],
  ['boolean', null, null],
  ['date', '2021-08-04T17:59:00Z', '60s'],
  ['date', '2021-08-04T19:00:00.5+02:00', '60m'],
  ['date', '2999-01-01T00:00:00Z', '<invalid>'],
  ['date', '0001-01-01T00:00:00Z', '<unknown>'],
  ['date', 'null', '<unknown>'],
  ['date', '', '<unknown>'],
  ['date', '2021-08-04', '<invalid>'],
  ['date', 7, null],
]
for (const [type, value, cell] of cells) {
  const shown = typeof value === 'bigint' ? String(value) : JSON.stringify(value)
  test(`${type} of ${shown}`, () => assert.deepEqual(cellOf(type, '.spec', value), cell))
}

const paths: [type: string, path: string, cell: unknown][] = [
  ['string', '.spec.none', null],
  // Only the first match is shown.
  ['string', '.spec[*]', 'a'],
  ['integer', '.spec.none', null],
  // Integers that a path says itself are of another type than those of objects.
  ['integer', '.spec 5', null],
  ['string', '.spec 5', '5'],
  ['number', '.spec 2.5', 2.5],
  ['integer', '.spec 2.5', 2],
  ['string', '.spec[0].*', '97'],
  ['integer', '.spec[0].*', null],
]
for (const [type, path, cell] of paths) {
  test(`${type} at ${path}`, () => assert.deepEqual(cellOf(type, path, ['a', 'b']), cell))
}

test('an invalid path hides its column and those after it', () => {
  const given = ['.a', '.b[', '.c'].map((jsonPath) => ({
    name: jsonPath,
    type: 'string',
    jsonPath,
  }))
  const names = customColumns(given).columns.map(({ name }) => name)
  assert.deepEqual(names, ['Name', '.a'])
})

test('a definition without columns shows the age', () => {
  for (const given of [undefined, null, []]) {
    assert.deepEqual(
      customColumns(given).columns.map(({ name, type }) => [name, type]),
      [
        ['Name', 'string'],
        ['Age', 'date'],
      ],
    )
  }
})

test('columns have the descriptions of the definition, or default ones', () => {
  const { columns } = customColumns([
    {
      name: 'A',
      type: 'string',
      jsonPath: '.a',
      priority: 1,
      format: 'byte',
      description: 'An a.',
    },
    { name: 'B', type: 'integer', jsonPath: '.b' },
  ])
  assert.deepEqual(columns.slice(1), [
    { name: 'A', type: 'string', format: 'byte', description: 'An a.', priority: 1 },
    { name: 'B', type: 'integer', format: '', description: 'The value at .b.', priority: 0 },
  ])
})
