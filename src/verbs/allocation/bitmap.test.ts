import assert from 'node:assert/strict'
import test from 'node:test'
import { Bitmap } from './bitmap.ts'

const cases: [hex: string, numbers: number[]][] = [
  ['', []],
  ['01', [0]],
  ['0201', [0, 9]],
  ['8000000000000000', [63]],
]
for (const [hex, numbers] of cases) {
  test(`'${hex}' is ${numbers.join()}`, () => {
    const read = Bitmap.of(Buffer.from(hex, 'hex'))
    assert.deepEqual([...read.numbers()], numbers)
    const written = Bitmap.of()
    for (const number of numbers) written.add(number)
    assert.equal(written.bytes().toString('hex'), hex)
  })
}

test('a deleted number is absent, and so are its bytes', () => {
  const bits = Bitmap.of(Buffer.from('0201', 'hex'))
  const before = bits.copy()
  bits.delete(9)
  bits.delete(900)
  assert.deepEqual([bits.has(0), bits.has(9), bits.has(900)], [true, false, false])
  assert.equal(bits.bytes().toString('hex'), '01')
  assert.equal(before.has(9), true)
})
