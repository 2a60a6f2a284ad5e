import assert from 'node:assert/strict'
import { test } from 'node:test'
import { progressLine } from './progress.ts'

const rows: [isTTY: boolean, everyMs: number, written: string[]][] = [
  [true, 100, ['\r\x1b[Kcopy: 1 of 4 (25 %)', '\r\x1b[Kcopy: 3 of 4 (75 %)', '\r\x1b[K']],
  [false, 5000, ['copy: 1 of 4 (25 %)\n', 'copy: 3 of 4 (75 %)\n']],
]
for (const [isTTY, everyMs, written] of rows)
  test(`progress in a ${isTTY ? 'terminal' : 'file'} appears every ${everyMs} ms`, () => {
    const lines: string[] = []
    let now = 0
    const stream = { isTTY, write: (text: string) => lines.push(text) > 0 } as NodeJS.WriteStream
    const line = progressLine('copy', stream, () => now)
    line.update(0, 4)
    now = everyMs
    line.update(1, 4)
    line.update(2, 4)
    now = 2 * everyMs
    line.update(3, 4)
    line.end()
    assert.deepEqual(lines, written)
  })
