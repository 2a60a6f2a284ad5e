/** The two headers of content negotiation, taken apart as Go's libraries take them apart. Nothing is decided here. */

export interface AcceptClause {
  readonly type: string
  readonly subtype: string
  readonly quality: number
  readonly parameters: Readonly<Record<string, string | undefined>>
}

/** Clauses looked at; an Accept header has a few, and sorting is quadratic. */
const clausesMax = 64

const trim = (text: string) => text.replace(/^ +| +$/g, '')

function parseClause(text: string): AcceptClause | undefined {
  const [range, ...rest] = trim(text).split(';')
  const parts = range.split('/').map(trim)
  if (parts.length > 2) return undefined
  const [type, subtype = ''] = parts
  if (subtype === '' && type !== '*') return undefined
  const parameters: Record<string, string | undefined> = Object.create(null)
  let quality = 1
  for (const parameter of rest) {
    const [name, value, more] = parameter.split('=')
    if (value === undefined || value === '' || more !== undefined) continue
    if (trim(name) === 'q') quality = Number(value) || 0
    else parameters[trim(name)] = trim(value)
  }
  return { type, subtype: subtype === '' ? '*' : subtype, quality, parameters }
}

/** Whether one clause goes before another. Not an order: kept as it is, for the outcome depends on it. */
function before(a: AcceptClause, b: AcceptClause): boolean {
  if (a.quality > b.quality) return true
  if (a.type !== '*' && b.type === '*') return true
  return a.subtype !== '*' && b.subtype === '*'
}

/** The clauses of an Accept header, those to try first first. */
export function parseAccept(header: string): AcceptClause[] {
  const clauses: AcceptClause[] = []
  for (const part of header.split(',', clausesMax)) {
    const clause = parseClause(part)
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

/** The media type of a Content-Type header in lower case, or undefined where the header is malformed. */
export function parseContentType(header: string): string | undefined {
  const match = mediaType.exec(header)
  if (match === null) return undefined
  let rest = match[2] ?? ''
  const names = new Set<string>()
  while (!/^\s*;?\s*$/.test(rest)) {
    const found = parameter.exec(rest)
    if (found === null || names.has(found[1].toLowerCase())) return undefined
    names.add(found[1].toLowerCase())
    rest = rest.slice(found[0].length)
  }
  return match[1].toLowerCase()
}
