import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextStep, tagProblem } from './tag.ts'

const newest = '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-11-19)\n\n## 0.1.0 (2026-11-12)\n'
const rows: [version: string, changelog: string, problem: RegExp | undefined][] = [
  ['0.2.0', newest, undefined],
  ['0.1.0', newest, /is 0\.2\.0, not 0\.1\.0/],
  ['0.3.0', newest, /is 0\.2\.0, not 0\.3\.0: date its section first/],
  ['0.1.0', '## Unreleased\n', /is none, not 0\.1\.0/],
]
for (const [version, changelog, problem] of rows)
  test(`a tag of ${version} ${problem === undefined ? 'is made' : `is refused: ${problem}`}`, () =>
    assert.match(tagProblem(version, changelog) ?? 'none', problem ?? /^none$/))

test('a release says how it is tagged and published', () => {
  assert.match(nextStep('0.2.0', false), /^to tag this commit: git tag v0\.2\.0; to publish: git/)
  assert.match(nextStep('0.2.0', true), /^to publish: git push origin v0\.2\.0, and/)
})
