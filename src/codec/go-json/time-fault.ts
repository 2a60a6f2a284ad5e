/** Go's error message for a text that is not a valid time or duration. */
const layouts = {
  time: '2006-01-02T15:04:05Z07:00',
  microTime: '2006-01-02T15:04:05.000000Z07:00',
} as const

/**
 * An element of a time layout: its spelling in Go, the text that it accepts, and the name of its
 * range.
 */
interface Element {
  readonly spelled: string
  readonly takes: RegExp
  readonly range?: { readonly name: string; readonly min: number; readonly max: number }
}

const literal = (spelled: string): Element => ({
  spelled,
  takes: new RegExp(`^${spelled}`),
})
const twoDigits = /^[0-9]{2}/
const upTo = (name: string, max: number, min = 0) => ({ name, min, max })

const elements: readonly Element[] = [
  { spelled: '2006', takes: /^[0-9][0-9]{3}/ },
  literal('-'),
  { spelled: '01', takes: twoDigits, range: upTo('month', 12, 1) },
  literal('-'),
  { spelled: '02', takes: twoDigits },
  literal('T'),
  { spelled: '15', takes: /^[0-9]{1,2}/, range: upTo('hour', 23) },
  literal(':'),
  { spelled: '04', takes: twoDigits, range: upTo('minute', 59) },
  literal(':'),
  { spelled: '05', takes: twoDigits, range: upTo('second', 59) },
]
const fraction = /^[.,][0-9]+/
const sixDigits: Element = { spelled: '.000000', takes: /^[.,][0-9]{6}/ }
const zone = /^(?:Z|[-+]([0-9]{2}):([0-9]{2}))/

export function timeFault(text: string, kind: keyof typeof layouts): string | undefined {
  const parsing = `parsing time ${timeQuote(text)}`
  const cannot = (rest: string, element: string) =>
    `${parsing} as ${timeQuote(layouts[kind])}: cannot parse ${timeQuote(rest)} as ${timeQuote(element)}`
  let rest = text
  const parts: number[] = []
  for (const { spelled, takes, range } of kind === 'time' ? elements : [...elements, sixDigits]) {
    const [taken] = takes.exec(rest) ?? []
    if (taken === undefined) return cannot(rest, spelled)
    rest = rest.slice(taken.length)
    const value = Number(taken)
    if (range !== undefined && (value < range.min || value > range.max)) {
      return `${parsing}: ${range.name} out of range`
    }
    parts.push(value)
  }
  if (kind === 'time') rest = rest.replace(fraction, '')
  const offset = zone.exec(rest)
  if (offset === null) return cannot(rest, 'Z07:00')
  if (Number(offset[1] ?? 0) > 24) return `${parsing}: time zone offset hour out of range`
  if (Number(offset[2] ?? 0) > 60) return `${parsing}: time zone offset minute out of range`
  const extra = rest.slice(offset[0].length)
  if (extra !== '') return `${parsing}: extra text: ${timeQuote(extra)}`
  const [year, , month, , day] = parts as [number, number, number, number, number]
  const isDay = day >= 1 && day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  return isDay ? undefined : `${parsing}: day out of range`
}

const units = new Set(['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h'])

/** The message for an invalid duration. */
export function durationFault(text: string): string {
  const invalid = `time: invalid duration ${timeQuote(text)}`
  let rest = text.replace(/^[-+]/, '')
  while (rest !== '') {
    const [number] = /^(?:[0-9]+\.?[0-9]*|\.[0-9]+)/.exec(rest) ?? []
    if (number === undefined) return invalid
    rest = rest.slice(number.length)
    const unit = (/^[^.0-9]+/.exec(rest) ?? [''])[0]
    if (unit === '') return `time: missing unit in duration ${timeQuote(text)}`
    if (!units.has(unit)) {
      return `time: unknown unit ${timeQuote(unit)} in duration ${timeQuote(text)}`
    }
    rest = rest.slice(unit.length)
  }
  return invalid
}

/** Quotes like Go's time package: every byte outside plain ASCII is hexadecimal. */
function timeQuote(text: string): string {
  let quoted = ''
  for (const byte of Buffer.from(text)) {
    const letter = String.fromCharCode(byte)
    if (byte >= 0x80 || byte < 0x20) quoted += `\\x${byte.toString(16).padStart(2, '0')}`
    else quoted += letter === '"' || letter === '\\' ? `\\${letter}` : letter
  }
  return `"${quoted}"`
}
