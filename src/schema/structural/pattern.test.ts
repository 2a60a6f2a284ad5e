import assert from 'node:assert/strict'
import test from 'node:test'
import { compilePattern, patternProblem } from './pattern.ts'

/** Pattern, text, whether it matches: anywhere in the text unless the pattern is anchored. */
const matches: [string, string, boolean][] = [
  ['', '', true],
  ['b', 'abc', true],
  ['^b', 'abc', false],
  ['^[a-z]+$', 'abc', true],
  ['^[a-z]+$', 'abc\n', false],
  ['(?m)^c$', 'ab\nc\n', true],
  ['a.c', 'a\nc', false],
  ['(?s)a.c', 'a\nc', true],
  ['(?i)straße', 'STRAßE', true],
  ['^.$', '😀', true],
  ['^\\pL{2}$', 'éa', true],
  ['(?i)a\\PN', 'Ab', true],
  ['\\bfoo\\b', 'a foo b', true],
  ['\\bfoo\\b', 'afoo', false],
  ['^(a|ab)(c|bcd)$', 'abcd', true],
  ['[[:xdigit:]]{4}', 'beef', true],
  ['\\Q.*\\E', '.*', true],
  ['\\Q.*\\E', 'ab', false],
]
for (const [pattern, text, wanted] of matches)
  test(`${JSON.stringify(pattern)} ${wanted ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
    assert.equal(compilePattern(pattern).matches(text), wanted)
  })

const wrong: [string, string][] = [
  ['(', 'error parsing regexp: missing closing ): `(`'],
  ['a**', 'error parsing regexp: invalid nested repetition operator: `**`'],
  ['[z-a]', 'error parsing regexp: invalid character class range: `z-a`'],
  ['a{1,1001}', 'error parsing regexp: invalid repeat count: `{1,1001}`'],
  ['(?!a)', 'error parsing regexp: invalid or unsupported Perl syntax: `(?!`'],
  ['\\1', 'error parsing regexp: invalid escape sequence: `\\1`'],
  ['\\', 'error parsing regexp: trailing backslash at end of expression: ``'],
]
for (const [pattern, problem] of wrong)
  test(`${JSON.stringify(pattern)} is no pattern`, () => {
    assert.equal(patternProblem(pattern), problem)
    assert.throws(() => compilePattern(pattern), { message: problem })
  })

/** Each is far beyond what real schemas have, and none may block the server for long. */
const costly: [string, string][] = [
  ['(a|b|ab){1,300}c{1,500}d', `cd${'ab'.repeat(25_000)}dc`],
  ['(a?){300}a{300}b', `b${'a'.repeat(50_000)}`],
  ['(x+x+)+y', `y${'x'.repeat(50_000)}`],
  ['(x*)*$y', 'x'.repeat(50_000)],
]
const longestMs = 3000
for (const [pattern, text] of costly)
  test(`${pattern} is decided soon`, () => {
    const begun = performance.now()
    assert.equal(compilePattern(pattern).matches(text), false)
    assert.ok(performance.now() - begun < longestMs)
  })
