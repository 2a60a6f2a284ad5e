import assert from 'node:assert/strict'
import { test } from 'node:test'
import { debugString } from '#cel/debug-string.fixture.ts'
import { type SpecCase, specCases } from '#cel/spec-cases.fixture.ts'
import { optionalMacros, standardMacros, twoVariableMacros } from './macros.ts'
import { macrosByKey, type ParseOptions, parse } from './parse.ts'

/** The other spelling of exists_one, which Kubernetes does not have. */
const existsOneMacros = standardMacros
  .filter(({ name }) => name === 'exists_one')
  .map((macro) => ({ ...macro, name: 'existsOne' }))

const plain: ParseOptions = {
  macros: macrosByKey(standardMacros, existsOneMacros),
  optionalSyntax: false,
  escapedIdentifiers: false,
}
/** Some cases come from a parser with lower limits than those of Kubernetes. */
const limited = {
  ...plain,
  limits: { recursionMax: 32, recoveriesMax: 4, recoveryTokensMax: 4 },
}
const withEverything: ParseOptions = {
  macros: macrosByKey(standardMacros, existsOneMacros, twoVariableMacros, optionalMacros),
  optionalSyntax: true,
  escapedIdentifiers: true,
}

/** The tree or the errors, as the cases have them: without the name of the source. */
function outcome(expression: string, options: ParseOptions): string {
  const result = parse(expression, options)
  return 'errors' in result
    ? result.source.format(result.errors).replaceAll('<input>', '')
    : debugString(result.parsed)
}

const wanted = ({ ast, error, original }: SpecCase): string =>
  ast ?? (error ?? '').replaceAll('<input>', '').replaceAll(`ERROR: ${original.name}:`, 'ERROR: :')

for (const [name, cases] of Object.entries(specCases))
  test(`${name}: ${cases.length} expressions parse as cel-go parses them`, () => {
    const options = name === 'parsing' || name === 'conformance' ? limited : plain
    for (const one of cases) {
      const { expr } = one.original
      assert.equal(outcome(expr, options), wanted(one), JSON.stringify(expr))
    }
  })

/** Expressions that cel-go's parser rejects, with all optional syntax on, and its messages. */
const rejected: [expression: string, ...messages: string[]][] = [
  ["'unclosed", "1:1: Syntax error: token recognition error at: ''unclosed'"],
  [
    '',
    "1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  ['(1', "1:3: Syntax error: missing ')' at '<EOF>'"],
  ['1 x', "1:3: Syntax error: extraneous input 'x' expecting <EOF>"],
  [
    'T{',
    "1:3: Syntax error: mismatched input '<EOF>' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}",
  ],
  ['[1].all(x, y, y > 0, 1) + for', '1:27: reserved identifier: for'],
  ['[1].all(x, x, x > 0)', '1:12: duplicate variable name: x'],
  ['a.optMap(b.c, 1)', '1:11: optMap() variable name must be a simple identifier'],
]

for (const [expression, ...messages] of rejected)
  test(`rejects ${expression}`, () => {
    const result = parse(expression, withEverything)
    assert.ok('errors' in result)
    const lines = result.source
      .format(result.errors)
      .split('\n')
      .filter((line) => line.startsWith('ERROR: '))
      .map((line) => line.slice('ERROR: <input>:'.length))
    assert.deepEqual(lines.slice(0, messages.length), messages)
  })

const accepted = ['a.?b.c[?d]', '[?a, b]', '{?a: b}', 'a.`b-c/d.e`', "r'\\d' + b'\\xff'", '0xAu']

for (const expression of accepted)
  test(`accepts ${expression}`, () => {
    assert.ok('parsed' in parse(expression, withEverything))
  })

test('an expression of more than 100,000 code points is rejected', () => {
  const result = parse(`'${'😁'.repeat(100_000)}'`, plain)
  assert.ok('errors' in result)
  assert.equal(
    result.source.format(result.errors).split('\n')[0],
    'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100002, limit 100000',
  )
})
