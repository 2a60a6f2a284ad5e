/**
 * The two headers of content negotiation, taken apart as Go's libraries take them apart. Nothing is
 * decided here.
 */

export interface AcceptClause {
  readonly type: string
  readonly subtype: string
  readonly quality: number
  readonly parameters: Readonly<Record<string, string | undefined>>
}

/** Clauses looked at; an Accept header has a few, and sorting is quadratic. */
const clausesMax = 64

/** Blanks at the end are looked for from the first of several on, so that one pass is enough. */
const trim = (text: string) => text.replace(/^ +|(?<! ) +$/g, '')

/**
 * How headers are taken apart: the library of releases before 1.17 kept parameters that say
 * nothing, or say more than one thing. `with CBOR`: as at present, and the gate for CBOR is on.
 */
export type AcceptRules = 'present' | 'with CBOR' | 'before 1.17'

/** Type and subtype; undefined where it is no media range. */
function parseRange(range: string, rules: AcceptRules): [string, string] | undefined {
  const parts = range.split('/')
  const [type, subtype] = parts.map(trim)
  if (parts.length === 1) return type === '*' ? ['*', '*'] : undefined
  if (rules === 'before 1.17') return parts.length === 2 ? [type, subtype] : undefined
  // What ends in a slash has nothing more to say.
  if (parts.length === 2 && parts[1] === '') return type === '*' ? ['*', '*'] : undefined
  return parts.slice(2).join('/') === '' ? [type, subtype] : undefined
}

/** Name and value; undefined where it is left out. */
function parseParameter(text: string, rules: AcceptRules): [string, string] | undefined {
  const [name, ...values] = text.split('=')
  if (values.length === 0) return undefined
  if (rules === 'before 1.17') return [trim(name), values.join('=')]
  const [value, ...more] = values
  if (value === '' && more.length === 0) return undefined
  return more.join('=') === '' ? [trim(name), value] : undefined
}

function parseClause(text: string, rules: AcceptRules): AcceptClause | undefined {
  const [range, ...rest] = trim(text).split(';')
  const types = parseRange(range, rules)
  if (types === undefined) return undefined
  const parameters: Record<string, string | undefined> = Object.create(null)
  let quality = 1
  for (const part of rest) {
    const parsed = parseParameter(part, rules)
    if (parsed === undefined) continue
    const [name, value] = parsed
    if (name === 'q') quality = Number(value) || 0
    else parameters[name] = trim(value)
  }
  return { type: types[0], subtype: types[1], quality, parameters }
}

/**
 * Whether one clause goes before another. Not an order: kept as it is, for the outcome depends on
 * it.
 */
function before(a: AcceptClause, b: AcceptClause): boolean {
  if (a.quality > b.quality) return true
  if (a.type !== '*' && b.type === '*') return true
  return a.subtype !== '*' && b.subtype === '*'
}

/** The clauses of an Accept header, those to try first first. */
export function parseAccept(header: string, rules: AcceptRules = 'present'): AcceptClause[] {
  const clauses: AcceptClause[] = []
  for (const part of header.split(',', clausesMax)) {
    const clause = parseClause(part, rules)
    if (clause === undefined) continue
    let at = clauses.length
    while (at > 0 && before(clause, clauses[at - 1])) at--
    clauses.splice(at, 0, clause)
  }
  return clauses
}

const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const mediaType = new RegExp(`^\\s*(${token}/${token})\\s*(;.*)?$`)
const parameter = new RegExp(`^\\s*;\\s*(${token})\\s*=\\s*(?:${token}|"(?:[^"\\\\]|\\\\.)*")`)

/**
 * The media type of a Content-Type header in lower case, or undefined where the header is
 * malformed.
 */
export function parseContentType(header: string): string | undefined {
  const match = mediaType.exec(header)
  if (match === null) return undefined
  let rest = match[2] ?? ''
  const names = new Set<string>()
  while (rest.trim() !== '' && rest.trim() !== ';') {
    const found = parameter.exec(rest)
    if (found === null || names.has(found[1].toLowerCase())) return undefined
    names.add(found[1].toLowerCase())
    rest = rest.slice(found[0].length)
  }
  return match[1].toLowerCase()
}
