import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conform } from '#schema/conform.ts'
import type { Type } from '#schema/type.ts'
import { roundAmounts } from './round-amounts.ts'
import { goQuantity, goQuantityPrinted, goResourceList } from './go-quantity.ts'

const amounts: Type = {
  is: 'map',
  atomic: false,
  values: { is: 'scalar', scalar: 'quantity' },
} as Type
const read = (raw: string | number | null): Record<string, string> => {
  const list = conform(amounts, { x: raw }).value as Record<string, string>
  roundAmounts(list)
  return list
}
const shown = (value: string, scale: number, text: string, format = 'DecimalSI', long = false) =>
  `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(${long ? '0xc000000000' : 'nil'})}, s:"${text}", Format:"${format}"}`

const rows: [written: string | number | null, shown: string, printed: string][] = [
  ['1500m', shown('1500', -3, '1500m'), '1500m'],
  ['1.5', shown('15', -1, ''), '1500m'],
  [1.5, shown('15', -1, ''), '1500m'],
  [3, shown('3', 0, '3'), '3'],
  ['-1.5', shown('-15', -1, ''), '-1500m'],
  ['1000m', shown('1000', -3, ''), '1'],
  ['0.0001', shown('1', -3, ''), '1m'],
  ['1e-1', shown('1', -1, '', 'DecimalExponent'), '100e-3'],
  ['0', shown('0', 0, '0'), '0'],
  ['0.0', shown('0', -1, ''), '0'],
  [null, shown('0', 0, '', ''), '0'],
  ['1n', shown('1', -3, ''), '1m'],
  ['1e-9', shown('1', -3, '', 'DecimalExponent'), '1e-3'],
  ['0.1n', shown('0', 0, '', 'DecimalSI', true), '1m'],
  ['1.0000000001', shown('0', 0, '', 'DecimalSI', true), '1001m'],
  ['1.00000000001Gi', shown('0', 0, '', 'BinarySI', true), '1073741824011m'],
  ['0.1Ki', shown('0', 0, '', 'BinarySI', true), '102400m'],
  ['1234567890123456789012.5', shown('0', 0, '', 'DecimalSI', true), '1234567890123456789012500m'],
]
for (const [written, text, printed] of rows) {
  test(`a quantity written ${JSON.stringify(written)} shows how`, () => {
    const list = read(written)
    assert.equal(list.x, printed)
    assert.equal(goQuantity(list, 'x').text, text)
    assert.equal(goQuantityPrinted(list, 'x').text, text.replace(/s:"[^"]*"/, `s:"${printed}"`))
    assert.equal(goResourceList(list).text, `core.ResourceList{"x":${text}}`)
  })
}

test('a copy does not have the written text', () => {
  assert.equal(goQuantity({ ...read('1.5') }, 'x').text, shown('1500', -3, '1500m'))
})
