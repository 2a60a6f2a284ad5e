import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WireReader } from '#base/wire.ts'
import { encodeCompaction, encodeWrite, type EtcdWrite } from './messages.ts'

/**
 * The parts of a transaction: field 1 has the conditions, 2 the operations on success, 3 those on
 * failure.
 */
function steps(bytes: Buffer): number[] {
  const fields: number[] = []
  const reader = new WireReader(bytes)
  while (!reader.done) {
    const tag = reader.tag()
    fields.push(tag >>> 3)
    reader.skip(tag)
  }
  return fields
}

const value = Buffer.from('x')
const writes: [what: string, request: EtcdWrite, steps: number[]][] = [
  ['a create reads nothing', { key: 'a', ifRevision: 0, value }, [1, 2]],
  ['an update reads what it met', { key: 'a', ifRevision: 7, value }, [1, 2, 3]],
  ['a deletion too', { key: 'a', ifRevision: 7, value: undefined }, [1, 2, 3]],
]
for (const [what, request, expected] of writes) {
  test(`the transactions of kube-apiserver: ${what}`, () => {
    assert.deepEqual(steps(encodeWrite(request)), expected)
  })
}

test('the transactions of kube-apiserver: compaction', () => {
  const bytes = encodeCompaction(3, 1200)
  assert.deepEqual(steps(bytes), [1, 2, 3])
  assert.equal(bytes.toString('latin1').split('compact_rev_key').length, 4)
  assert.ok(bytes.includes('1200'))
})
