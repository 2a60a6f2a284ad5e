/**
 * Flags → parts → server. The only file that knows every part; what each part does is said where it is written.
 */
import { parseCommand } from '#cli/command.ts'
import { CannotUseFile } from '#server/private-files.ts'
import { CannotStart } from '#server/cannot-start.ts'
import { StorageUnavailable, Unreadable } from '#storage/storage.ts'

const say = (text: string) => process.stderr.write(`binnacle: ${text}\n`)

/** `loaded` is called when what a start needs is loaded, and the start begins. */
export async function main(argv: readonly string[], loaded = () => {}): Promise<void> {
  const command = parseCommand(argv)
  switch (command.command) {
    case 'help': {
      const { helpText } = await import('#cli/help.ts')
      process.stdout.write(helpText())
      return
    }
    case 'version': {
      const { versionText } = await import('#cli/version.ts')
      process.stdout.write(`${versionText('1.22')}\n`)
      return
    }
    case 'refuse':
      say(command.error)
      process.exitCode = 1
      return
    case 'backup': {
      const { backupTo } = await import('#cli/backup.ts')
      return orSay(backupTo(command.flags.settings, command.file))
    }
    case 'start': {
      const { start } = await import('#cli/start.ts')
      loaded()
      return orSay(start(command.flags))
    }
  }
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
