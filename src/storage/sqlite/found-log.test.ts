import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readLog } from './found-log.ts'
import { type MadeFrame, makeLog } from './found-log.fixture.ts'

const place = mkdtempSync(join(tmpdir(), 'binnacle-log-'))
after(() => rmSync(place, { recursive: true }))

function found(log: Buffer): string {
  const file = join(place, 'log')
  writeFileSync(file, log)
  const descriptor = openSync(file, 'r')
  const { pages, problem } = readLog(descriptor, log.length, 512)
  closeSync(descriptor)
  return `${[...pages].join(' ')}${problem === undefined ? '' : `: ${problem}`}`
}

/** Three transactions of two pages each. */
const sound: MadeFrame[] = [1, 2, 3, 4, 5, 6].map((page) => ({ page, commits: page % 2 === 0 }))
const garbled = (garbledAt: number, ...which: number[]): MadeFrame[] =>
  sound.map((frame) => (which.includes(frame.page) ? { ...frame, garbledAt } : frame))
const sumsOfHeader = (log: Buffer) => {
  log[26] = (log[26] as number) ^ 1
  return log
}
const strange = 'it does not begin as the log of a database does'
const contentAt = 100
const saltAt = 9
const frameBytes = 24 + 512

const cases: [what: string, log: Buffer, found: string][] = [
  ['sound', makeLog(sound), '1 2 3 4 5 6'],
  ['sound, in the other order of bytes', makeLog(sound, { magic: 0x377f0683 }), '1 2 3 4 5 6'],
  ['nothing', Buffer.alloc(0), ''],
  ['less than its head', makeLog(sound).subarray(0, 31), ''],
  ['its head alone', makeLog([]), ''],
  ['room that nothing was written into', Buffer.alloc(9999), ''],
  ['room behind it', Buffer.concat([makeLog(sound), Buffer.alloc(9999)]), '1 2 3 4 5 6'],
  ['cut in a frame', makeLog(sound).subarray(0, -1), '1 2 3 4 5'],
  ['something else', Buffer.alloc(9999, 'x'), `: ${strange}`],
  ['of another page size', makeLog(sound, { pageSize: 1024 }), `: ${strange}`],
  ['a bit of the sums of its head', sumsOfHeader(makeLog(sound)), `: ${strange}`],
  [
    'an earlier use of the file behind it',
    makeLog([
      ...sound.slice(0, 4),
      ...sound.slice(4).map((f) => ({ ...f, salts: Buffer.alloc(8) })),
    ]),
    '1 2 3 4',
  ],
  ['a bit of the first page', makeLog(garbled(contentAt, 1)), ': it is damaged at byte 32'],
  [
    'a bit of a page',
    makeLog(garbled(contentAt, 3)),
    `1 2: it is damaged at byte ${32 + 2 * frameBytes}`,
  ],
  [
    'a bit of a commit',
    makeLog(garbled(contentAt, 4)),
    `1 2 3: it is damaged at byte ${32 + 3 * frameBytes}`,
  ],
  [
    'a bit of the head of a frame',
    makeLog(garbled(saltAt, 3)),
    `1 2: it is damaged at byte ${32 + 2 * frameBytes}`,
  ],
  [
    'the last transaction, which a crash may have cut short',
    makeLog(garbled(contentAt, 5)),
    '1 2 3 4',
  ],
  ['its commit likewise', makeLog(garbled(contentAt, 6)), '1 2 3 4 5'],
  [
    'damage in two places, which hides whether commits follow',
    makeLog(garbled(contentAt, 3, 4)),
    '1 2',
  ],
]
for (const [what, log, expected] of cases) test(what, () => assert.equal(found(log), expected))
