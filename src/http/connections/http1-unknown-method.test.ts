import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { processorMs } from '#base/processor-time.fixture.ts'
import { unknownMethodRequest } from './http1-unknown-method.ts'

const blanks = ' '.repeat(60_000)
const headersOf = (lines: string) => {
  const rawPacket = Buffer.from(`FOO /a HTTP/1.1\r\n${lines}\r\n\r\n`, 'latin1')
  const error = Object.assign(new Error(), { code: 'HPE_INVALID_METHOD', rawPacket })
  const headers = unknownMethodRequest(error, new Socket())?.request.headers
  return headers && { ...headers }
}

const rows: [lines: string, headers: Record<string, string> | undefined][] = [
  ['a: b', { a: 'b' }],
  ['A:\t b  c \t', { a: 'b  c' }],
  ['a:', { a: '' }],
  ['a: ', { a: '' }],
  ['a: b\r\nA: c', { a: 'b, c' }],
  ['a b', undefined],
  ['a: b\x01', undefined],
  [`a: b${blanks}\x01`, undefined],
  [`a: b${blanks}c`, { a: `b${blanks}c` }],
]
for (const [lines, headers] of rows)
  test(`a head with ${JSON.stringify(lines.slice(0, 20))} is read in one pass`, () => {
    const took = processorMs(() => assert.deepEqual(headersOf(lines), headers))
    assert.ok(took < 1000, `${took} ms`)
  })
