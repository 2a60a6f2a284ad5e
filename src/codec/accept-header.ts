/**
 * Parses Accept and Content-Type like kube-apiserver's Go libraries. Content negotiation is in
 * media-type.ts.
 */

export interface AcceptClause {
  readonly type: string
  readonly subtype: string
  readonly quality: number
  readonly parameters: Readonly<Record<string, string | undefined>>
}

/** The number of clauses that are parsed; sorting them is quadratic. */
const clausesMax = 64

/** The lookbehind finds trailing spaces in one pass. */
const trim = (text: string) => text.replace(/^ +|(?<! ) +$/g, '')

/**
 * The rules of parsing. Until 1.16 the library kept parameters without a value or with several `=`.
 * `with CBOR`: the current rules with the CBOR gate enabled.
 */
export type AcceptRules = 'present' | 'with CBOR' | 'before 1.17'

/** Type and subtype; undefined if the text is not a media range. */
function parseRange(range: string, rules: AcceptRules): [string, string] | undefined {
  const parts = range.split('/')
  const [type, subtype] = parts.map(trim)
  if (parts.length === 1) return type === '*' ? ['*', '*'] : undefined
  if (rules === 'before 1.17') return parts.length === 2 ? [type, subtype] : undefined
  // A range that ends in a slash is valid only as `*/`.
  if (parts.length === 2 && parts[1] === '') return type === '*' ? ['*', '*'] : undefined
  return parts.slice(2).join('/') === '' ? [type, subtype] : undefined
}

/** Name and value; undefined if the parameter is ignored. */
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
 * Whether clause `a` is inserted before `b`. This is not a consistent order, but kube-apiserver's
 * result depends on it.
 */
function before(a: AcceptClause, b: AcceptClause): boolean {
  if (a.quality > b.quality) return true
  if (a.type !== '*' && b.type === '*') return true
  return a.subtype !== '*' && b.subtype === '*'
}

/** The clauses of an Accept header, most preferred first. */
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

/** The media type of a Content-Type header in lower case; undefined if the header is malformed. */
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
