/**
 * The command line's server: prints that it is ready, writes its log to standard error, and closes
 * on a signal.
 */
import { systemClock } from '#base/clock.ts'
import { systemRandom } from '#base/random.ts'
import { createLog } from '#observe/log.ts'
import { createServer } from '#server/create-server.ts'
import type { Parsed } from '#settings/flags.ts'
import { type Ready, readyFields, readyLines, stateText } from './ready-lines.ts'
import type { StatusLine } from './status-line.ts'
import { stopOnSignal } from './stop.ts'

export async function start({ settings }: Parsed): Promise<void> {
  let statusLine: StatusLine | undefined
  const write = (line: string) =>
    statusLine === undefined ? process.stderr.write(line) : statusLine.write(line)
  const clock = systemClock
  const log = createLog(settings.v, write, clock.now, settings.loggingFormat)
  const server = await createServer(settings, { log, clock, random: systemRandom })
  let status: { stop(): void } | undefined
  const { notifySystemd } = await import('./notify-systemd.ts')
  stopOnSignal(
    () => {
      status?.stop()
      notifySystemd('stopping', log.warn)
      return server.close()
    },
    (text) => log.info(text),
  )
  const ready: Ready = {
    url: server.url,
    tookMs: performance.now(),
    state: stateText(settings),
    release: settings.emulatedVersion,
    kubeconfig: server.kubeconfig,
  }
  if (settings.loggingFormat === 'json') log.info('ready', readyFields(ready))
  else process.stdout.write(readyLines(ready))
  notifySystemd('ready', log.warn)
  for (const deprecation of server.deprecations) log.warn(deprecation)
  // Loaded when the server is ready, so as not to delay the start.
  const { isTerminal, showStatus, StatusLine } = await import('./status-line.ts')
  const isText = settings.loggingFormat === 'text'
  if (isText && isTerminal(process.stdout, process.stderr, process.env['TERM'])) {
    statusLine = new StatusLine(process.stdout)
    status = showStatus(statusLine, server.status)
  }
  const { collectWhenIdle } = await import('./collect-when-idle.ts')
  collectWhenIdle()
}
