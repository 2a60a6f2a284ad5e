/**
 * How named changes are tested. Each row of a table has the last release before a boundary, the
 * first release after it, and the expected results of both.
 *
 *   checkBoundaries(problemsIn, [['a long name', [26, 27], longName, [], ['metadata.name: …']]])
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

export type Boundary = readonly [last: number, first: number]
export type BoundaryRow<Input, Result> = readonly [
  title: string,
  boundary: Boundary,
  input: Input,
  before: Result,
  since: Result,
]

/** `resultIn` returns the result of an input in a release: 22 for 1.22. */
export function checkBoundaries<Input, Result>(
  resultIn: (release: number, input: Input) => Result | Promise<Result>,
  rows: readonly BoundaryRow<Input, Result>[],
): void {
  for (const [title, [last, first], input, before, since] of rows) {
    test(`${title}: before 1.${first}`, async () =>
      assert.deepEqual(await resultIn(last, structuredClone(input)), before))
    test(`${title}: since 1.${first}`, async () =>
      assert.deepEqual(await resultIn(first, structuredClone(input)), since))
  }
}
