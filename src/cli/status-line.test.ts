import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isForeground, isTerminal, StatusLine, statusText } from './status-line.ts'

const before = { requests: 100, watchers: 2, objects: 10, storeBytes: 40_000 }
const rows: [now: Partial<typeof before>, text: string][] = [
  [{ requests: 150 }, '25 requests/s · 2 watches · 10 objects · store 40 kB · Ctrl-C stops'],
  [{ storeBytes: undefined! }, '0 requests/s · 2 watches · 10 objects · Ctrl-C stops'],
  [
    { storeBytes: 12_300_000 },
    '0 requests/s · 2 watches · 10 objects · store 12.3 MB · Ctrl-C stops',
  ],
]
for (const [now, text] of rows)
  test(`status: ${text}`, () => assert.equal(statusText({ ...before, ...now }, before, 2000), text))

test('log lines appear above the status, which fits the terminal', () => {
  const written: string[] = []
  const line = new StatusLine({ columns: 8, write: (text: string) => written.push(text) > 0 })
  line.write('first\n')
  line.show('0123456789')
  line.write('second\n')
  line.end()
  assert.deepEqual(written, ['first\n', '\r\x1b[K0123456', '\r\x1b[Ksecond\n0123456', '\r\x1b[K'])
})

const terminals: [stdout: boolean, stderr: boolean, term: string, is: boolean][] = [
  [true, true, 'xterm', true],
  [true, false, 'xterm', false],
  [false, true, 'xterm', false],
  [true, true, 'dumb', false],
]
for (const [out, error, term, is] of terminals)
  test(`a status line with ${JSON.stringify([out, error, term])}: ${is}`, () =>
    assert.equal(isTerminal({ isTTY: out }, { isTTY: error }, term), is))

const processes: [stat: string, is: boolean][] = [
  ['71 (node) S 70 71 70 34816 71 4194304 1', true],
  ['71 (node) S 70 71 70 34816 70 4194304 1', false],
  ['71 (a) b (c) S 70 71 70 34816 71 4194304 1', true],
]
for (const [stat, is] of processes)
  test(`in the foreground by ${stat}: ${is}`, () => assert.equal(isForeground(stat), is))
