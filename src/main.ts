/**
 * Flags → parts → server. The only file that knows every part; each part documents itself.
 */
import { loadLater } from '#base/load-later.ts'
import { flagRows, type Parsed } from '#settings/flags.ts'
import { parseCommand } from '#cli/command.ts'
import { CannotUseFile } from '#server/private-files.ts'
import { CannotStart } from '#server/cannot-start.ts'
import { createLog } from '#observe/log.ts'
import { StorageUnavailable, Unreadable } from '#storage/storage.ts'

/** The module behind the entry point `binnacle`; see lib/. */
export const serverEntry = loadLater<typeof import('#server/embedded-server.ts')>(
  import.meta.url,
  '#server/embedded-server',
)

/** The module behind the entry point `binnacle/testing`; see lib/. */
export const testingEntry = loadLater<typeof import('#testing/start-cluster.ts')>(
  import.meta.url,
  '#testing/start-cluster',
)

const write = (text: string) => void process.stderr.write(text)
const wantsJson = (argv: readonly string[]) =>
  /(^|\0)--logging-format[=\0]json(\0|$)/.test(argv.join('\0'))

/** A line that ends the program: as the log's lines are where they are JSON. */
let say = (text: string): void => write(`binnacle: ${text}\n`)

export async function main(argv: readonly string[]): Promise<void> {
  if (wantsJson(argv)) say = createLog(0, write, Date.now, 'json').error
  if (process.env['npm_lifecycle_event'] === 'start') {
    const { flagsTakenByNpm } = await import('#cli/npm-flags.ts')
    const corrected = flagsTakenByNpm(argv, process.env, flagRows)
    if (corrected !== undefined) return refuse(corrected)
  }
  const command = parseCommand(argv)
  switch (command.command) {
    case 'help': {
      const { helpText, unknownTopic } = await import('#cli/help.ts')
      const text = helpText(command.topic)
      if (text === undefined) return refuse(unknownTopic(command.topic))
      process.stdout.write(text)
      return
    }
    case 'version': {
      const { versionText } = await import('#cli/version.ts')
      process.stdout.write(`${versionText(command.release)}\n`)
      return
    }
    case 'refuse':
      return refuse(command.error)
    case 'run': {
      const { runCommand } = await import('#cli/run-command.ts')
      return orSay(runCommand(command.given))
    }
    case 'start': {
      const { start } = await import('#cli/start.ts')
      warn(command.flags)
      return orSay(start(command.flags))
    }
  }
}

function refuse(problem: string): void {
  say(problem)
  process.exitCode = 1
}

/** A start goes on with deprecated flags, after a line about each. */
function warn({ settings, warnings }: Parsed): void {
  const log = createLog(settings.v, write, Date.now, settings.loggingFormat)
  for (const warning of warnings) log.warn(warning)
}

/** What the operator can mend is one line; anything else is our defect and shows where. */
async function orSay(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    const expected = [StorageUnavailable, Unreadable, CannotUseFile, CannotStart].some(
      (kind) => error instanceof kind,
    )
    const { message, stack } = error as Error
    say(expected || 'code' in (error as object) ? message : (stack ?? message))
    process.exit(1)
  }
}
