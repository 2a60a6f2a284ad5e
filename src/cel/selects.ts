/**
 * Whether an expression reads a field of a variable: `claims.email`, `has(claims.email)` or
 * `claims.?email`.
 */
import type { Expr } from './ast.ts'
import { childrenOf } from './children.ts'

export function selectsField(root: Expr, variable: string, field: string): boolean {
  if (isSelection(root, variable, field)) return true
  return childrenOf(root).some((part) => selectsField(part, variable, field))
}

function isSelection(expr: Expr, variable: string, field: string): boolean {
  if (expr.kind === 'select') return expr.field === field && isNamed(expr.operand, variable)
  if (expr.kind !== 'call' || expr.name !== '_?._') return false
  const [operand, name] = expr.args
  return (
    name?.kind === 'literal' &&
    name.value === field &&
    operand !== undefined &&
    isNamed(operand, variable)
  )
}

const isNamed = (expr: Expr, variable: string): boolean =>
  expr.kind === 'ident' && expr.name === variable
