/**
 * Checks `'%d of %s'.format([x, y])` before it runs: the clauses must fit the types of the
 * elements.
 */
import type { Call, CheckedExpr, Expr, ListExpr } from '#cel/ast.ts'
import type { CelKind } from '#cel/cel-type.ts'
import { FormatProblem, readClause, stringAccepts } from '#cel/functions/format-text.ts'
import type { CelError } from '#cel/source.ts'

type Report = (id: number, message: string) => void

const doubles = { kinds: ['double', 'string'], accepted: 'clause can only be used on doubles' }

/** What each clause accepts, and the beginning of the message for other types. */
const clauses: Readonly<Record<string, { kinds: readonly string[]; accepted: string }>> = {
  d: { kinds: ['int', 'uint'], accepted: 'decimal clause can only be used on integers' },
  f: { ...doubles, accepted: `fixed-point ${doubles.accepted}` },
  e: { ...doubles, accepted: `scientific ${doubles.accepted}` },
  b: {
    kinds: ['int', 'uint', 'bool'],
    accepted: 'only integers and bools can be formatted as binary',
  },
  x: {
    kinds: ['int', 'uint', 'string', 'bytes'],
    accepted: 'only integers, byte buffers, and strings can be formatted as hex',
  },
  o: { kinds: ['int', 'uint'], accepted: 'octal clause can only be used on integers' },
}

const textKinds: ReadonlySet<CelKind> = new Set<CelKind>([
  ...(['list', 'map', 'int', 'uint', 'double', 'bool', 'string'] as const),
  ...(['timestamp', 'bytes', 'duration', 'type', 'null', 'dyn'] as const),
])

/** The first part of an argument that `%s` cannot show. */
function partWithoutText(expr: Expr, { types }: CheckedExpr): Expr | undefined {
  const kind = types.get(expr.id)?.kind
  if (kind === undefined || !textKinds.has(kind)) return expr
  const parts =
    expr.kind === 'list'
      ? expr.elements
      : expr.kind === 'map'
        ? expr.entries.flatMap(({ key, value }) => [key, value])
        : []
  for (const part of parts) {
    const found = partWithoutText(part, { types } as CheckedExpr)
    if (found !== undefined) return found
  }
  return undefined
}

function checkClause(verb: string, arg: Expr, checked: CheckedExpr, report: Report): boolean {
  const typeNameOf = ({ id }: Expr) => checked.types.get(id)?.name ?? ''
  const reject = (at: Expr, accepted: string) => {
    report(at.id, `error during formatting: ${accepted}, was given ${typeNameOf(at)}`)
    return false
  }
  if (verb === 's') {
    const wrong = partWithoutText(arg, checked)
    return wrong === undefined || reject(wrong, stringAccepts)
  }
  const clause = clauses[verb.toLowerCase()]
  const kind = checked.types.get(arg.id)?.kind ?? 'error'
  if (clause === undefined || kind === 'dyn' || clause.kinds.includes(kind)) return true
  return reject(arg, clause.accepted)
}

function checkFormat(
  call: Call,
  format: string,
  list: ListExpr,
  checked: CheckedExpr,
  report: Report,
) {
  const { elements } = list
  let used = 0
  let at = 0
  while (at < format.length) {
    const percent = format.indexOf('%', at)
    if (percent < 0) break
    at = percent + 2
    if (format[percent + 1] === '%') continue
    used += 1
    if (percent + 1 >= format.length) return report(call.id, 'unexpected end of string')
    const arg = elements[used - 1]
    if (arg === undefined) return report(call.id, `index ${used - 1} out of range`)
    const clause = readClause(format, percent + 1)
    if (!checkClause(clause.verb, arg, checked, report)) return
    at = clause.end
  }
  if (elements.length <= used) return
  const counts = `expected ${used}, got ${elements.length}`
  report(call.id, `too many arguments supplied to string.format (${counts})`)
}

/** Reports calls of `format` on a literal whose arguments are a literal list. */
export function checkFormatCall(call: Call, checked: CheckedExpr): CelError[] {
  const [list] = call.args
  const { target } = call
  if (target?.kind !== 'literal' || target.type !== 'string' || list?.kind !== 'list') return []
  const reference = checked.references.get(call.id)
  if (reference?.kind === 'function' && !reference.overloadIds.includes('string_format')) return []
  const errors: CelError[] = []
  const report: Report = (id, message) => {
    errors.push({ position: checked.positions.get(id) ?? -1, message })
  }
  try {
    checkFormat(call, target.value, list, checked, report)
  } catch (error) {
    if (!(error instanceof FormatProblem)) throw error
    report(call.id, error.message)
  }
  return errors
}
