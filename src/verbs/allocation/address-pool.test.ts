import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AddressPool } from './address-pool.ts'

const half = () => 0.5
const cases: [string, string, string, string][] = [
  // block           inside        outside       any
  ['10.0.0.0/16', '10.0.7.9', '10.1.0.1', '10.0.128.0'],
  ['10.0.0.0/12', '10.15.255.254', '10.15.255.255', '10.8.0.0'],
  ['10.0.0.1/30', '10.0.0.1', '10.0.0.3', '10.0.0.2'],
  ['fd00::/112', 'fd00::7', 'fd01::7', 'fd00::8000'],
]
for (const [block, inside, outside, any] of cases) {
  test(`addresses of ${block}`, () => {
    const pool = new AddressPool(block, half)
    assert.equal(pool.takeAny(), any)
    assert.equal(pool.take(inside), 'ok')
    assert.equal(pool.take(inside), 'taken')
    assert.equal(pool.take(outside), 'outside')
    pool.releaseMemory(inside)
    assert.equal(pool.take(inside), 'ok')
  })
}

test('a full block has no free address', () => {
  const pool = new AddressPool('10.0.0.0/30', half)
  assert.notEqual(pool.takeAny(), undefined)
  assert.notEqual(pool.takeAny(), undefined)
  assert.equal(pool.takeAny(), undefined)
})
