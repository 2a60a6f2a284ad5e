/** The replayer's lines as numbers, the floor, and the exact list of differences. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disagreements, luckyAnswers, readExpectedFailures } from './expected-failures.ts'
import { belowFloor, raisedFloor, readTally, tallyTable, withoutLuck } from './tally.ts'

const output = `✗ life/a pod step 3 POST /api/v1/namespaces/{id}/pods
    at body.message: want "a"  got "b"
✗ versions-2: socket hang up
life           cases 1/2   answers the same 9/10   status the same 10/10
versions       cases 0/1   answers the same 0/0   status the same 0/0
all            cases 1/3   answers the same 9/10 (90.0%)   status the same 10/10
`
const tally = readTally(output)

test('families and differences are read', () => {
  assert.deepEqual([...tally.families.keys()], ['life', 'versions'])
  assert.deepEqual(tally.families.get('life'), { same: 9, of: 10, statusSame: 10 })
  assert.deepEqual([...tally.different], ['life/a pod#3', 'versions-2'])
})

test('the table shows every family and the whole', () => {
  const table = tallyTable('1.22', tally, { life: 8 })
  assert.match(table, /life +9\/10 +90\.0 % +100\.0 % +8/)
  assert.match(table, /all +9\/10/)
})

test('the floor holds and rises, and never sinks', () => {
  assert.deepEqual(belowFloor('1.22', tally, { life: 9 }), [])
  assert.deepEqual(belowFloor('1.22', tally, { life: 10, gone: 1 }), [
    'release 1.22, life: 9 answers the same, the floor is 10',
    'release 1.22, gone: 0 answers the same, the floor is 1',
  ])
  assert.deepEqual(raisedFloor(tally, { life: 3, gone: 7 }), { gone: 7, life: 9, versions: 0 })
})

const families = new Map([
  ['life/a pod', 'life'],
  ['versions-2', 'versions'],
])
const lists: [text: string, said: RegExp[]][] = [
  ['', []],
  ['1.22 life/a pod#3  its own words', []],
  ['1.22 life/a pod#4  its own words', [/life\/a pod#4 is listed as different and is the same/]],
  ['1.22 missing#4  its own words', [/no such case/]],
  ['1.21 life/a pod#4  of another release', []],
  ['complete 1.22 life\n1.22 life/a pod#3  known', []],
  ['complete 1.22 life', [/life\/a pod#3 differs, is not listed/]],
  ['complete 1.22 versions\n# a remark', [/versions-2 differs/]],
  ['complete 1.22 life\nsometimes 1.22 life/a pod#3  a race', []],
  ['sometimes 1.22 life/a pod#4  a race', []],
  ['sometimes 1.22 missing#4  a race', [/no such case/]],
]
for (const [text, said] of lists)
  test(`the list ${JSON.stringify(text)}`, () => {
    const found = disagreements('1.22', tally.different, readExpectedFailures(text), families)
    assert.equal(found.length, said.length, found.join('\n'))
    for (const [i, pattern] of said.entries()) assert.match(found[i]!, pattern)
  })

test('a line that says nothing is refused', () => {
  assert.throws(() => readExpectedFailures('\nlife/a pod#3'), /line 2/)
})

test('what is the same by luck does not raise the floor', () => {
  const list = readExpectedFailures('sometimes 1.22 life/a pod#4  a race')
  const lucky = luckyAnswers('1.22', tally.different, list, families)
  assert.deepEqual([...lucky], [['life', 1]])
  assert.equal(withoutLuck(tally, lucky).families.get('life')?.same, 8)
})
