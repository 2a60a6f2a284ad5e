/**
 * Settings from typed options, for programs that embed the server: `settingsOf({ emulatedVersion:
 * '1.37' })`. An option has the name, type and rules of its flag. An invalid value is rejected with
 * the message of the command line.
 */
import type { Row } from './flag-row.ts'
import { flagRows, type FlagSettings, parseFlags, type Settings, settingName } from './flags.ts'

export type ServerOptions = Partial<FlagSettings>

const flagNames = new Map([...flagRows.keys()].map((name) => [settingName(name), name]))

/** Throws a TypeError with the name of the option. */
export function settingsOf(options: ServerOptions): Settings {
  const argv: string[] = []
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined) continue
    const name = flagNames.get(option)
    if (name === undefined) throw new TypeError(`there is no option ${option}`)
    const { shape } = flagRows.get(name) as Row<unknown>
    argv.push(`--${name}=${shown(shape, value)}`)
  }
  const parsed = parseFlags(argv)
  if ('error' in parsed) throw new TypeError(parsed.error)
  return parsed.settings
}

function shown(shape: Row<unknown>['shape'], value: unknown): string {
  try {
    return shape.show(value)
  } catch {
    return String(value)
  }
}
