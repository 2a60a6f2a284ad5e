/**
 * Reports flags that npm consumed instead of the server. In `npm start --storage-backend=memory`
 * the `--` before the flags is missing. npm then stores the flag in the environment as
 * npm_config_storage_backend, and the server would start without it.
 */
import type { Row } from '#settings/flag-row.ts'

type Environment = Readonly<Record<string, string | undefined>>

const prefix = 'npm_config_'

/**
 * A message with the flags and the corrected command; undefined if npm consumed no flag of the
 * server. Only for a process that `npm start` started.
 */
export function flagsTakenByNpm(
  argv: readonly string[],
  environment: Environment,
  rows: ReadonlyMap<string, Row<unknown>>,
): string | undefined {
  const rest = [...argv]
  const flags: string[] = []
  for (const [variable, value = ''] of Object.entries(environment)) {
    if (!variable.startsWith(prefix)) continue
    const name = variable.slice(prefix.length).replaceAll('_', '-')
    const row = rows.get(name)
    if (row !== undefined) flags.push(`--${name}=${valueOf(row, value, rest)}`)
  }
  if (flags.length === 0) return undefined
  return `npm kept ${flags.join(' ')} for itself; flags go after --:\n  npm start -- ${[...flags, ...rest].join(' ')}`
}

/**
 * npm passes '' for --no-NAME and 'true' for a flag without `=`. For `--data-dir /some/dir` it
 * passes `true`, and /some/dir becomes a positional argument.
 */
function valueOf(row: Row<unknown>, value: string, rest: string[]): string {
  // Only boolean flags have no placeholder for a value.
  if (row.shape.word === '') return value === '' ? 'false' : value
  const next = rest.findIndex((arg) => !arg.startsWith('-'))
  if (value !== 'true' || next < 0) return value
  return rest.splice(next, 1)[0] as string
}
