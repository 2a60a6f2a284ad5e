/**
 * CEL's conformance tests and cel-go's tests of its parser, checker and comprehensions: all 2,765
 * cases.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseOf } from '#api/releases/change.ts'
import { activationOf, compile, Expression } from './compile.ts'
import { adornedString } from './debug-string.fixture.ts'
import { celEnvironment } from './environment.ts'
import { type SpecCase, specCases } from './spec-cases.fixture.ts'
import { exceptionNames } from './spec-exceptions.fixture.ts'
import {
  adornment,
  checkCase,
  checkingEnvironment,
  plainOptions,
  problemOf,
} from './spec-run.fixture.ts'

const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')

/** Cases of cel-go have no name of their own. */
const nameOf = ({ suite, original }: SpecCase): string =>
  `${suite}/${original.name ?? oneLine(original.expr)}`

const met = new Set<string>()

/** Checks each case; an exception must differ. */
function checkAll(cases: readonly SpecCase[], differs: (one: SpecCase) => string | undefined) {
  const wrong: string[] = []
  for (const one of cases) {
    const name = nameOf(one)
    const problem = differs(one)
    if (problem !== undefined) met.add(name)
    if (problem !== undefined && !exceptionNames.has(name)) wrong.push(`${name}: ${problem}`)
  }
  assert.deepEqual(wrong, [])
}

/** The name of a source is that of the case in some of cel-go's errors. */
const comparable = (text: string, name = ''): string =>
  text.replaceAll('<input>', '').replaceAll(`ERROR: ${name}:`, 'ERROR: :').replaceAll('\t', ' ')

function differingTree(one: SpecCase, checked: ReturnType<typeof checkCase>): string | undefined {
  const found =
    'errors' in checked ? checked.errors : adornedString(checked.checked.root, adornment(checked))
  const wanted = one.checkedAst ?? one.error ?? ''
  return comparable(found) === comparable(wanted, one.original.name) ? undefined : found
}

test(`conformance: ${specCases.conformance.length} expressions give the value that they must`, () => {
  assert.equal(specCases.conformance.length, 2344)
  checkAll(specCases.conformance, problemOf)
})

test('conformance: the types, references and overloads are those of cel-go', () => {
  const cases = specCases.conformance.filter(({ checkedAst }) => checkedAst !== undefined)
  assert.equal(cases.length, 2071)
  checkAll(cases, (one) => differingTree(one, checkCase(one)))
})

/** What does not parse is a matter of parse/parse.test.ts. */
for (const [suite, count, parsed] of [
  ['parsing', 194, 108],
  ['checking', 135, 124],
  ['comprehension', 92, 82],
] as const)
  test(`${suite}: ${count} expressions have the types or the errors of cel-go`, () => {
    const cases = specCases[suite].filter(({ ast }) => ast !== undefined)
    assert.deepEqual([specCases[suite].length, cases.length], [count, parsed])
    checkAll(cases, (one) =>
      differingTree(one, checkCase(one, checkingEnvironment(one.original), plainOptions)),
    )
  })

test('comprehension: what Kubernetes accepts is true', () => {
  const environment = celEnvironment(releaseOf(37), 'stored')
  let evaluated = 0
  for (const { original } of specCases.comprehension) {
    const compiled = compile(original.expr, environment, { variables: new Map() })
    if (!(compiled instanceof Expression && compiled.isBoolean)) continue
    const { value } = compiled.program().evaluate(activationOf({}))
    assert.equal(value, true, original.expr)
    evaluated += 1
  }
  assert.equal(evaluated, 39)
})

test('exceptions are at most one in fifty, and each differs', () => {
  const total = Object.values(specCases).reduce((sum, cases) => sum + cases.length, 0)
  assert.equal(total, 2765)
  assert.ok(exceptionNames.size <= total / 50, `${exceptionNames.size} exceptions`)
  const conformance = [...exceptionNames].filter((name) => name.startsWith('conformance/'))
  assert.ok(conformance.length <= specCases.conformance.length / 50)
  assert.deepEqual(
    [...exceptionNames].filter((name) => !met.has(name)),
    [],
  )
})
