/** The value of a literal. */
import type { Literal } from './ast.ts'
import { Uint, type Value } from './values.ts'

export const literalValue = (literal: Literal): Value =>
  literal.type === 'uint' ? new Uint(literal.value) : literal.value
