/**
 * Loaded into a server before anything else by tests that set its clock. The time of day is the
 * machine's plus what a file says, in every thread. Elapsed time is left alone, as it is when a
 * machine's clock is set. But what is done every minute may be done more often, for tests that
 * would wait for it.
 */
import { readFileSync } from 'node:fs'

const file = process.env.BINNACLE_TEST_CLOCK as string
const realNow = Date.now.bind(Date)
let offsetMs = 0
setInterval(() => {
  offsetMs = Number(readFileSync(file, 'utf8')) || 0
}, 10).unref()

const RealDate = Date
const now = () => realNow() + offsetMs
class SetDate extends RealDate {
  // biome-ignore lint/suspicious/noExplicitAny: the arguments of Date are many kinds of things
  constructor(...args: any[]) {
    if (args.length === 0) super(now())
    else super(...(args as [number]))
  }
  static override now = now
}
globalThis.Date = SetDate as DateConstructor

const minuteMs = Number(process.env.BINNACLE_TEST_MINUTE_MS ?? 60_000)
const realInterval = setInterval
globalThis.setInterval = ((work: () => void, ms?: number, ...rest: []) =>
  realInterval(work, ms === 60_000 ? minuteMs : ms, ...rest)) as typeof setInterval
