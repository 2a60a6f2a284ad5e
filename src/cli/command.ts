/**
 * The first word of the command line: what the `binnacle` command is asked to do. Reading flags is flags.ts; doing
 * it is main.ts. It prints nothing.
 */
import { type Parsed, parseFlags } from '#settings/flags.ts'

export type Command =
  | { readonly command: 'start'; readonly flags: Parsed }
  | { readonly command: 'backup'; readonly file: string; readonly flags: Parsed }
  | { readonly command: 'help'; readonly topic: string }
  | { readonly command: 'version' }
  | { readonly command: 'refuse'; readonly error: string }

/** What follows `--help=`: `all`, a topic, or a flag. Empty for the first screen. */
function helpTopic(argv: readonly string[]): string | undefined {
  const arg = argv.find((arg) => /^(-h|--help(=.*)?)$/s.test(arg))
  if (arg !== undefined) return arg.replace(/^[^=]*=?/, '')
  return argv[0] === 'help' ? (argv[1] ?? '') : undefined
}

export function parseCommand(argv: readonly string[]): Command {
  const topic = helpTopic(argv)
  if (topic !== undefined) return { command: 'help', topic }
  if (argv[0] === '--version' || argv[0] === 'version') return { command: 'version' }
  if (argv[0] === 'backup') return parseBackup(argv.slice(1))
  const parsed = parseFlags(argv[0] === 'start' ? argv.slice(1) : argv)
  if ('error' in parsed) return { command: 'refuse', error: parsed.error }
  return { command: 'start', flags: parsed }
}

function parseBackup([file, ...rest]: readonly string[]): Command {
  if (file === undefined || file.startsWith('-'))
    return {
      command: 'refuse',
      error: 'backup wants the file to write: binnacle backup FILE [flags]',
    }
  const parsed = parseFlags(rest)
  if ('error' in parsed) return { command: 'refuse', error: parsed.error }
  if (parsed.settings.storageBackend !== 'sqlite')
    return {
      command: 'refuse',
      error: `backup is for --storage-backend=sqlite; ${parsed.settings.storageBackend} has its own ways`,
    }
  return { command: 'backup', file, flags: parsed }
}
