/**
 * `binnacle test-server` starts clusters for tests in any language, and prints their URLs as one
 * line of JSON.
 */
import { flagRows, settingName } from '#settings/flags.ts'
import type { ServerOptions } from '#settings/settings-of.ts'
import { startTestServer } from '#testing/test-server.ts'
import type { GivenCommand } from './command.ts'
import { stopOnSignal } from './stop.ts'
import { packageVersion } from './version.ts'

export async function testServer({ flags, options }: GivenCommand): Promise<void> {
  const { settings, given } = flags
  const names = [...flagRows.keys()].filter((name) => given.has(name)).map(settingName)
  const wanted = Object.fromEntries(names.map((name) => [name, settings[name as never]]))
  const seed = options.get('seed')?.[0]
  const wantedServer = {
    ...(wanted as ServerOptions),
    ...(seed !== undefined && { seed: seedOf(seed) }),
    log: (line: string) => process.stderr.write(line),
  }
  const server = await startTestServer(wantedServer, packageVersion())
  const print = (text: string) => process.stderr.write(`binnacle: ${text}\n`)
  stopOnSignal(() => server.close(), print)
  process.stdout.write(`${JSON.stringify(server.address)}\n`)
  if (options.get('exit-with')?.[0] === 'stdin') endWithParent(() => server.close())
}

function seedOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new TypeError(`--seed=${text} is no whole number`)
}

/** A test process that is killed closes the pipe that it gave us as standard input. */
function endWithParent(close: () => Promise<void>): void {
  process.stdin.on('end', () => {
    void close().finally(() => process.exit(0))
  })
  process.stdin.resume()
}
