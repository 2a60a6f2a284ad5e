/**
 * Selects the YAML style of a string like Kubernetes' library: plain, quoted or a literal block. A
 * string is quoted if a YAML 1.1 reader would parse it as another type.
 */
import { resolvePlain } from './yaml-scalar.ts'

export type Style = 'plain' | 'single' | 'double' | 'literal'

/** Line breaks of YAML 1.1 that are characters of their own. */
export const isBreak = (char: string): boolean =>
  char === '\n' || char === '\r' || char === '\u0085' || char === '\u2028' || char === '\u2029'

const anyBreak = /[\n\r\u0085\u2028\u2029]/
const breakThenBlank = /[\n\r\u0085\u2028\u2029] /
const blankThenBreak = / [\n\r\u0085\u2028\u2029]/
/** A line without its break, or a break. */
export const lineOrBreak = /[^\n\r\u0085\u2028\u2029]+|[\n\r\u0085\u2028\u2029]/g

/** Characters beyond the basic plane, tabs and byte order marks count as unprintable there. */
export const isPrintable = (char: string): boolean => {
  const code = char.codePointAt(0) as number
  if (code < 0x7f) return code === 0x0a || code >= 0x20
  return code >= 0xa0 && code < 0xfffe && code !== 0xfeff && (code < 0xd800 || code > 0xdfff)
}

/** The same of a whole text. */
const unprintable = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/

const base60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/
const time =
  /^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:(?:[Tt]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?(?:Z|[-+]([0-9]{2}):([0-9]{2})))|(?: ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?))?$/

function isTime(text: string): boolean {
  const found = time.exec(text)
  if (found === null) return false
  const [year, month, day, ...clock] = found.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    ...number[],
  ]
  const [hour, minute, second, zoneHour, zoneMinute, hour2, minute2, second2] = clock as number[]
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return false
  if (Math.max(hour, hour2) > 23 || Math.max(minute, minute2) > 59) return false
  return Math.max(second, second2) <= 59 && zoneHour <= 24 && zoneMinute <= 60
}

const daysOf = (year: number, month: number): number =>
  month === 2
    ? year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
      ? 29
      : 28
    : [4, 6, 9, 11].includes(month)
      ? 30
      : 31

/** Whether a reader parses the unquoted text as this string. */
const readsAsText = (text: string): boolean =>
  typeof resolvePlain(text) === 'string' && !base60.test(text) && !isTime(text)

interface Looks {
  readonly multiline: boolean
  readonly plain: boolean
  readonly single: boolean
  readonly block: boolean
}

const indicatorFirst = /^(?:[#,[\]{}&*!|>'"%@`]|---|\.\.\.)/
/** Question marks and colons begin something only before a blank; so does a minus. */
const indicatorFirstThenBlank = /^[?:-](?:[ \t]|$)/
const indicatorWithin = /.:(?:[ \t]|$)|[ \t\n\r\u0085\u2028\u2029\0]#/su

/** Which styles can hold the text. */
function look(text: string): Looks {
  const multiline = anyBreak.test(text)
  const special = unprintable.test(text)
  const spaceThenBreak = multiline && blankThenBreak.test(text)
  const breakThenSpace = multiline && breakThenBlank.test(text)
  const indicators =
    indicatorFirst.test(text) || indicatorFirstThenBlank.test(text) || indicatorWithin.test(text)
  const edged = text.startsWith(' ') || text.endsWith(' ')
  const single = !breakThenSpace && !spaceThenBreak && !special
  return {
    multiline,
    plain: single && !edged && !multiline && !indicators,
    single,
    block: !text.endsWith(' ') && !spaceThenBreak && !special,
  }
}

/** Whether a key fits on one line before its colon, without a `?`. */
export const isSimpleKey = (key: string): boolean =>
  !look(key).multiline && Buffer.byteLength(key) <= simpleKeyBytesMax
const simpleKeyBytesMax = 128

export function styleOf(text: string, isKey: boolean): Style {
  const { multiline, plain, single, block } = look(text)
  if (text.includes('\n')) return block && !isKey ? 'literal' : 'double'
  if (!readsAsText(text) || (isKey && multiline)) return 'double'
  if (plain) return 'plain'
  return single ? 'single' : 'double'
}
