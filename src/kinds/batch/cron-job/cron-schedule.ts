/**
 * Validation of cron schedules: five fields of numbers, names, ranges and steps, or a macro such as
 * @daily. It never reads a clock.
 */
import { parseDuration } from '#api/duration.ts'
import { goQuote } from '#api/go-syntax.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'

interface Bounds {
  readonly min: number
  readonly max: number
  readonly names: readonly string[]
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const fields: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
]
const words = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']

/** A schedule that cannot be read; the message is kube-apiserver's. */
class ScheduleError extends Error {}

const fail = (message: string): never => {
  throw new ScheduleError(message)
}

const schedulesHaveZones = change('schedules of cron jobs can name a time zone', { since: 22 })

/** The error of a schedule. Undefined if the schedule is valid. */
export function scheduleProblem(text: string, release: number): string | undefined {
  try {
    checkSchedule(text, release)
    return undefined
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error
    const { message } = error
    return releaseOf(release).has(schedulesHaveZones)
      ? message
      : message.charAt(0).toUpperCase() + message.slice(1)
  }
}

function checkSchedule(text: string, release: number): void {
  if (text === '') fail('empty spec string')
  let rest = text
  const hasZone = text.startsWith('TZ=') || text.startsWith('CRON_TZ=')
  if (hasZone && releaseOf(release).has(schedulesHaveZones)) {
    const space = text.indexOf(' ')
    const end = space < 0 ? text.length : space
    checkZone(text.slice(text.indexOf('=') + 1, end))
    rest = text.slice(end).trim()
  }
  if (rest.startsWith('@')) {
    checkWord(rest)
    return
  }
  const parts = rest.split(/\s+/).filter((part) => part !== '')
  if (parts.length !== 5) {
    const shown = releaseOf(release).has(schedulesHaveZones) ? `[${parts.join(' ')}]` : text
    fail(`expected exactly 5 fields, found ${parts.length}: ${shown}`)
  }
  parts.forEach((part, i) => {
    for (const range of part.split(',')) if (range !== '') checkRange(range, fields[i] as Bounds)
  })
}

const zoneNamesAreChecked = change('time zones of cron jobs have names of the IANA', { since: 27 })
const zonePart = /^[A-Za-z.\-_0-9+]{1,14}$/

/** The errors of `spec.timeZone`. */
export function timeZoneProblems(zone: string, { has }: Pick<Release, 'has'>): string[] {
  if (zone === '') return ['timeZone must be nil or non-empty string']
  const isName = (part: string) =>
    zonePart.test(part) && part !== '.' && part !== '..' && !part.startsWith('-')
  if (has(zoneNamesAreChecked) && !zone.split('/').every(isName)) {
    return [`unknown time zone ${zone}`]
  }
  const problems: string[] = []
  if (zone.toLowerCase() === 'local') {
    problems.push(
      'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
    )
  }
  const problem = zoneProblem(zone)
  return problem === undefined ? problems : [...problems, problem]
}

/** Why Go cannot load a time zone. */
function zoneProblem(zone: string): string | undefined {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return undefined
  if (/^[/\\]|\.\./.test(zone)) return 'time: invalid location name'
  return isZone(zone) ? undefined : `unknown time zone ${zone}`
}

function checkZone(zone: string): void {
  const problem = zoneProblem(zone)
  if (problem !== undefined) fail(`provided bad location ${zone}: ${problem}`)
}

/**
 * Whether the text is an IANA time zone in its exact spelling, which starts with a capital letter.
 * UTC offsets are not names.
 */
function isZone(name: string): boolean {
  if (!/^[A-Z]/.test(name)) return false
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase()
  } catch {
    return false
  }
}

function checkWord(word: string): void {
  if (words.includes(word)) return
  const every = '@every '
  if (!word.startsWith(every)) fail(`unrecognized descriptor: ${word}`)
  const problem = durationProblem(word.slice(every.length))
  if (problem !== undefined) fail(`failed to parse duration ${word}: ${problem}`)
}

/** Go's error for an invalid duration. */
function durationProblem(text: string): string | undefined {
  if (parseDuration(text) !== undefined) return undefined
  let rest = text.replace(/^[-+]/, '')
  while (rest !== '') {
    const number = /^(?:[0-9]+\.?[0-9]*|\.[0-9]+)/.exec(rest)
    if (number === null) break
    rest = rest.slice(number[0].length)
    const unit = (/^[^0-9.]*/.exec(rest) as RegExpExecArray)[0]
    if (unit === '') return `time: missing unit in duration ${goQuote(text)}`
    if (!/^(?:ns|us|µs|μs|ms|s|m|h)$/.test(unit)) {
      return `time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`
    }
    rest = rest.slice(unit.length)
  }
  return `time: invalid duration ${goQuote(text)}`
}

interface ScheduleField {
  readonly values: ReadonlySet<number>
  /** True for `*`, even next to other ranges. */
  readonly isAny: boolean
}

/** Minutes, hours, days, months and weekdays of a valid schedule. */
export const scheduleFields = (text: string): ScheduleField[] =>
  text.split(/\s+/).map((part, i) => {
    const ranges = part.split(',').filter((range) => range !== '')
    const values = new Set<number>()
    for (const range of ranges) {
      const { start, end, step } = checkRange(range, fields[i] as Bounds)
      for (let value = start; value <= end; value += step) values.add(value)
    }
    return { values, isAny: ranges.some((range) => /^[*?](\/1)?$/.test(range)) }
  })

function checkRange(
  expression: string,
  { min, max, names }: Bounds,
): { start: number; end: number; step: number } {
  const [range, stepText, ...moreSteps] = expression.split('/') as [string, string?, ...string[]]
  const ends = range.split('-') as [string, string?, ...string[]]
  let start = min
  let end = max
  if (ends[0] !== '*' && ends[0] !== '?') {
    start = numberOrName(ends[0], names, min)
    end =
      ends.length === 1
        ? start
        : ends.length === 2
          ? numberOrName(ends[1] as string, names, min)
          : -1
    if (ends.length > 2) fail(`too many hyphens: ${expression}`)
  }
  let step = 1
  if (moreSteps.length > 0) fail(`too many slashes: ${expression}`)
  if (stepText !== undefined) {
    step = numberOf(stepText)
    if (ends.length === 1) end = max
  }
  if (start < min) fail(`beginning of range (${start}) below minimum (${min}): ${expression}`)
  if (end > max) fail(`end of range (${end}) above maximum (${max}): ${expression}`)
  if (start > end) fail(`beginning of range (${start}) beyond end of range (${end}): ${expression}`)
  if (step === 0) fail(`step of range should be a positive number: ${expression}`)
  return { start, end, step }
}

function numberOrName(text: string, names: readonly string[], first: number): number {
  const index = names.indexOf(text.toLowerCase())
  return index < 0 ? numberOf(text) : index + first
}

function numberOf(text: string): number {
  if (!/^[-+]?[0-9]+$/.test(text)) {
    fail(`failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`)
  }
  const value = BigInt(text.replace('+', ''))
  if (BigInt.asIntN(64, value) !== value) {
    fail(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: value out of range`,
    )
  }
  if (value < 0n) fail(`negative number (${value}) not allowed: ${text}`)
  return Number(value)
}
