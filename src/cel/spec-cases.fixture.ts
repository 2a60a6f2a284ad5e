/** The cases of CEL's conformance tests and of cel-go's own tests, flattened. */
import { tests as checking } from '@bufbuild/cel-spec/testdata/checking.js'
import { tests as comprehension } from '@bufbuild/cel-spec/testdata/comprehension.js'
import { tests as conformance } from '@bufbuild/cel-spec/testdata/conformance.js'
import { tests as parsing } from '@bufbuild/cel-spec/testdata/parsing.js'

export interface SpecCase {
  readonly suite: string
  readonly original: {
    readonly name?: string
    readonly expr: string
    readonly container?: string
    readonly disableCheck?: boolean
    readonly disableMacros?: boolean
    readonly checkOnly?: boolean
    readonly typeEnv?: readonly unknown[]
    readonly bindings?: Readonly<Record<string, unknown>>
    readonly value?: unknown
    readonly evalError?: unknown
    readonly typedResult?: unknown
  }
  /** The syntax tree, unless parsing fails. */
  readonly ast?: string
  /** The tree with types and references, unless the check fails. */
  readonly checkedAst?: string
  readonly type?: string
  readonly error?: string
}

interface Suite {
  readonly name: string
  readonly suites?: readonly Suite[]
  readonly tests?: readonly Omit<SpecCase, 'suite'>[]
}

function flatten(suite: Suite, path = suite.name): SpecCase[] {
  return [
    ...(suite.tests ?? []).map((one) => ({ ...one, suite: path })),
    ...(suite.suites ?? []).flatMap((inner) => flatten(inner, `${path}/${inner.name}`)),
  ]
}

export const specCases = {
  parsing: flatten(parsing as Suite),
  checking: flatten(checking as Suite),
  comprehension: flatten(comprehension as Suite),
  conformance: flatten(conformance as unknown as Suite),
}
