import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { gzipMember } from './compress.ts'

test('gzip members follow each other, and each ends with a flush', () => {
  const texts = ['{"type":"ADDED"}\n', '', 'x'.repeat(100_000)]
  const members = texts.map((text) => gzipMember(Buffer.from(text)))
  assert.equal(gunzipSync(Buffer.concat(members)).toString(), texts.join(''))
  // The empty block of the flush, the empty last block, a checksum and a length.
  for (const member of members)
    assert.equal(member.subarray(-18, -8).toString('hex'), '000000ffff010000ffff')
})
