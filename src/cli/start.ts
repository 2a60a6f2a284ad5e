/** The command line's server: prints that it is ready, writes its log to standard error, and closes on a signal. */
import { systemClock } from '#base/clock.ts'
import { systemRandom } from '#base/random.ts'
import { createLog } from '#observe/log.ts'
import { createServer } from '#server/create-server.ts'
import type { Parsed } from '#settings/flags.ts'
import { readyLines, stateText } from './ready-lines.ts'
import { stopOnSignal } from './stop.ts'

export async function start({ settings }: Parsed): Promise<void> {
  const write = (line: string) => process.stderr.write(line)
  const clock = systemClock
  const log = createLog(settings.v, write, clock.now, settings.loggingFormat)
  const server = await createServer(settings, { log, clock, random: systemRandom })
  stopOnSignal(
    () => server.close(),
    (text) => log.info(text),
  )
  process.stdout.write(
    readyLines({
      url: server.url,
      tookMs: performance.now(),
      state: stateText(settings),
      release: settings.emulatedVersion,
      kubeconfig: server.kubeconfig,
    }),
  )
  for (const deprecation of server.deprecations) log.warn(deprecation)
  // Loaded when the server is ready, for its start should not wait.
  const { collectWhenIdle } = await import('./collect-when-idle.ts')
  collectWhenIdle()
}
