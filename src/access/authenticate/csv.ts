/**
 * Parses the CSV format of token and password files. Each record has its line number for errors.
 */
export interface CsvRecord {
  readonly line: number
  readonly fields: readonly string[]
}

/** Throws an error with the line number if quotes are misplaced. Empty lines are skipped. */
export function parseCsv(text: string): CsvRecord[] {
  const source = text.replaceAll('\r\n', '\n')
  const records: CsvRecord[] = []
  let line = 1
  for (let at = 0; at < source.length; ) {
    if (source[at] === '\n') {
      at++
      line++
      continue
    }
    const fields: string[] = []
    const begin = line
    for (;;) {
      const field = source[at] === '"' ? quoted(source, at, line) : bare(source, at, line)
      fields.push(field.text)
      at = field.end
      line += field.lines
      if (source[at] !== ',') break
      at++
    }
    records.push({ line: begin, fields })
    if (at < source.length) line++
    at++
  }
  return records
}

interface Field {
  readonly text: string
  readonly end: number
  /** Line ends inside the field. */
  readonly lines: number
}

function bare(source: string, at: number, line: number): Field {
  const found = /[,\n]/g
  found.lastIndex = at
  const end = found.exec(source)?.index ?? source.length
  const text = source.slice(at, end)
  if (text.includes('"')) throw new Error(`line ${line}: bare " in non-quoted field`)
  return { text, end, lines: 0 }
}

function quoted(source: string, at: number, line: number): Field {
  let text = ''
  let from = at + 1
  for (;;) {
    const quote = source.indexOf('"', from)
    if (quote < 0) throw new Error(`line ${line}: quoted field is not closed`)
    text += source.slice(from, quote)
    const next = source[quote + 1]
    if (next === '"') {
      text += '"'
      from = quote + 2
      continue
    }
    if (next !== undefined && next !== ',' && next !== '\n')
      throw new Error(`line ${line}: extraneous or missing " in quoted field`)
    return { text, end: quote + 1, lines: text.split('\n').length - 1 }
  }
}
