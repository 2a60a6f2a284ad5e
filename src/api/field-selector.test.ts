import assert from 'node:assert/strict'
import test from 'node:test'
import { parseFieldSelector, soleName } from './field-selector.ts'
import { ApiError } from './status-error.ts'

test('terms are parsed as written', () => {
  const cases: [text: string, expected: string[]][] = [
    ['', []],
    [',', []],
    ['a=b', ['a = b']],
    ['a==b', ['a = b']],
    ['a!=b', ['a != b']],
    ['a=', ['a = ']],
    ['a=b,c!=d', ['a = b', 'c != d']],
    ['a=b\\,c', ['a = b,c']],
    ['a=b\\=c', ['a = b=c']],
    ['a=b\\\\', ['a = b\\']],
    ['__proto__=x', ['__proto__ = x']],
  ]
  for (const [text, expected] of cases) {
    const read = parseFieldSelector(text).map(
      ({ field, equal, value }) => `${field} ${equal ? '=' : '!='} ${value}`,
    )
    assert.deepEqual(read, expected, text)
  }
})

test('invalid selectors are rejected', () => {
  const cases: [text: string, message: string][] = [
    ['a', "invalid selector: 'a'; can't understand 'a'"],
    ['a,b=c', "invalid selector: 'a,b=c'; can't understand 'a'"],
    // The message has the code of the character.
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    // A backslash in a field name does not hide an operator.
    ['a\\=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
  ]
  for (const [text, message] of cases) {
    assert.throws(
      () => parseFieldSelector(text),
      (error) => error instanceof ApiError && error.code === 400 && error.message === message,
      text,
    )
  }
})

test('the only name that a selector allows', () => {
  assert.equal(soleName(parseFieldSelector('a=b,metadata.name=x')), 'x')
  assert.equal(soleName(parseFieldSelector('metadata.name!=x')), undefined)
})
