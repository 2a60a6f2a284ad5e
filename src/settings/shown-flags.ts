/** The flags of a release, each with its value as a user would type it. */
import { flagRows, isInRelease, type Settings, settingName } from './flags.ts'

export function shownFlags(settings: Settings, release: number): Record<string, string> {
  const values = settings as Readonly<Record<string, unknown>>
  const rows = [...flagRows].filter(([, row]) => isInRelease(row, `1.${release}`))
  return Object.fromEntries(
    rows.map(([name, { shape }]) => {
      const value = values[settingName(name)]
      return [name, value === undefined ? '' : shape.show(value)]
    }),
  )
}
