import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lookupWords } from './lookup-words.ts'

const rows: [code: string, servers: string[], expected: string | undefined][] = [
  ['ENOTFOUND', ['10.0.0.1', '10.0.0.2'], 'lookup h on 10.0.0.1:53: no such host'],
  ['ENOTFOUND', ['10.0.0.1:5353'], 'lookup h on 10.0.0.1:5353: no such host'],
  ['ENOTFOUND', ['fe80::1'], 'lookup h on [fe80::1]:53: no such host'],
  ['EAI_AGAIN', [], 'lookup h: server misbehaving'],
  ['ECONNREFUSED', ['10.0.0.1'], undefined],
]
for (const [code, servers, expected] of rows) {
  test(`${code} of ${servers}`, () => assert.equal(lookupWords(code, 'h', servers), expected))
}
