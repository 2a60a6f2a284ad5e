import assert from 'node:assert/strict'
import test from 'node:test'
import { describeFailure } from './failure.ts'

const cases: [errcode: number | undefined, words: string][] = [
  [13, 'the disk is full (words)'],
  [266, 'the disk failed to read or write it (words)'],
  [4874, 'the disk is full (words)'],
  [1, 'words'],
  [undefined, 'words'],
]
for (const [errcode, words] of cases)
  test(`the code ${errcode} of SQLite`, () => {
    const error = Object.assign(new Error('words'), { errcode })
    assert.equal(
      describeFailure(error, '/d/state.db'),
      `the database /d/state.db cannot be used: ${words}`,
    )
  })
