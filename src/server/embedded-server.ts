/**
 * The entry point `binnacle`: a server for other programs.
 *
 *   import { createServer } from 'binnacle'
 *   const server = await createServer({ storageBackend: 'memory', securePort: 0 })
 *   console.log(server.url, server.kubeconfig)
 *   await server.close()
 *
 * Every flag is an option. Its name is in camel case, with the unit if the value is a number with a
 * unit: `requestTimeoutMs`.
 */
import { systemClock } from '#base/clock.ts'
import { systemRandom } from '#base/random.ts'
import { createLog, type Log } from '#observe/log.ts'
import { type ServerOptions, settingsOf } from '#settings/settings-of.ts'
import { createServer as createFromSettings, type RunningServer } from './create-server.ts'
import type { Surroundings } from './surroundings.ts'

export type { RunningServer } from './create-server.ts'
export type { ServerOptions } from '#settings/settings-of.ts'

export interface EmbeddedOptions extends Partial<Omit<Surroundings, 'log'>> {
  /** Receives each line of the log. Without it, the log is dropped. */
  readonly log?: (line: string) => void
}

/**
 * Resolves when the server is ready. It prints nothing, handles no signal and never ends the
 * process.
 */
export async function createServer(
  options: ServerOptions = {},
  { log: write = () => {}, ...surroundings }: EmbeddedOptions = {},
): Promise<RunningServer> {
  const settings = settingsOf(options)
  const { clock = systemClock } = surroundings
  const log: Log = createLog(settings.v, write, clock.now, settings.loggingFormat)
  return createFromSettings(settings, { random: systemRandom, ...surroundings, clock, log })
}
