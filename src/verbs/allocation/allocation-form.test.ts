import assert from 'node:assert/strict'
import test from 'node:test'
import { field, scalar, structOf } from '#schema/make-type.ts'
import { allocationForm } from './allocation-form.ts'

const type = structOf('RangeAllocation', [
  field('range', scalar('string'), 2),
  field('data', scalar('bytes'), 3),
])
const allocation = { range: '1-9', data: Buffer.from('0100', 'hex') }
const json =
  '{"kind":"RangeAllocation","apiVersion":"v1","metadata":{},"range":"1-9","data":"AQA="}\n'
const envelope =
  '6b3873000a150a02763112' +
  `0f${Buffer.from('RangeAllocation').toString('hex')}` +
  '12091203312d391a0201001a002200'

for (const [title, writesProtobuf, bytes] of [
  ['JSON', false, Buffer.from(json)],
  ['protobuf', true, Buffer.from(envelope, 'hex')],
] as const) {
  test(`${title} is written as it is and read by either`, () => {
    assert.equal(
      allocationForm(type, writesProtobuf).encode(allocation).toString('hex'),
      bytes.toString('hex'),
    )
    for (const writes of [true, false])
      assert.deepEqual(allocationForm(type, writes).parse(bytes), allocation)
  })
}
