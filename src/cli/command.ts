/**
 * Parses the command line into a command with arguments, options and flags. command-table.ts
 * defines commands, settings/ defines flags. Parsing has no side effects.
 */
import { type Parsed, parseFlags } from '#settings/flags.ts'
import { nearest } from '#settings/nearest.ts'
import { loadLater } from '#base/load-later.ts'
import type { CommandName, CommandRow } from './command-table.ts'

const loadTable = loadLater<typeof import('./command-table.ts')>(import.meta.url, './command-table')

/** A command besides `start`, as the user entered it. */
export interface GivenCommand {
  readonly name: CommandName
  readonly words: readonly string[]
  /** The values of each option; absent options have none. */
  readonly options: ReadonlyMap<string, readonly string[]>
  readonly flags: Parsed
}

export type Command =
  | { readonly command: 'start'; readonly flags: Parsed }
  | { readonly command: 'run'; readonly given: GivenCommand }
  | { readonly command: 'help'; readonly topic: string }
  | { readonly command: 'version'; readonly release: string }
  | { readonly command: 'refuse'; readonly error: string }

/** The row of a command. Undefined for a start, which must not load the command table. */
const rowOf = (name: string): CommandRow | undefined => {
  if (name === '' || name === 'start' || name.startsWith('-')) return undefined
  const rows: Readonly<Record<string, CommandRow>> = loadTable().commandTable
  return Object.hasOwn(rows, name) ? rows[name] : undefined
}

/** The argument of `--help=`: `all`, a topic, a command or a flag. Empty for the overview. */
function helpTopic(argv: readonly string[]): string | undefined {
  const arg = argv.find((arg) => /^(-h|--help(=.*)?)$/s.test(arg))
  const [first = ''] = argv
  const isCommand = rowOf(first) !== undefined
  if (arg !== undefined)
    return isCommand && !arg.includes('=') ? first : arg.replace(/^[^=]*=?/, '')
  return first === 'help' ? (argv[1] ?? '') : undefined
}

export function parseCommand(argv: readonly string[]): Command {
  const topic = helpTopic(argv)
  if (topic !== undefined) return { command: 'help', topic }
  const [first = ''] = argv
  if (first === '--version' || first === 'version') {
    const parsed = parseFlags(argv.slice(1))
    const { settings } = 'error' in parsed ? (parseFlags([]) as Parsed) : parsed
    return { command: 'version', release: settings.emulatedVersion }
  }
  const row = rowOf(first)
  if (row !== undefined) return parseGiven(first as CommandName, row, argv.slice(1))
  if (/^[a-z]/.test(first) && first !== 'start')
    return { command: 'refuse', error: unknownCommand(first) }
  const parsed = parseFlags(first === 'start' ? argv.slice(1) : argv)
  if ('error' in parsed) return { command: 'refuse', error: parsed.error }
  return { command: 'start', flags: parsed }
}

function unknownCommand(name: string): string {
  const close = nearest(name, ['start', ...Object.keys(loadTable().commandTable)])
  const hint = close === undefined ? '' : ` (did you mean ${close}?)`
  return `unknown command: ${name}${hint}; binnacle --help lists them`
}

/** `binnacle backup FILE [flags]` */
export function usageOf(name: string): string {
  const { words, options } = rowOf(name)!
  const required = Object.entries(options).filter(([, row]) => row.required)
  const shown = required.map(([option, { word, letter }]) =>
    letter === undefined ? `--${option} ${word}` : `-${letter} ${word}`,
  )
  return ['binnacle', name, ...words, ...shown, '[flags]'].join(' ')
}

function parseGiven(name: CommandName, row: CommandRow, argv: readonly string[]): Command {
  const refuse = (error: string): Command => ({ command: 'refuse', error })
  const split = splitArguments(row, argv)
  if ('error' in split) return refuse(`${name}: ${split.error}; usage: ${usageOf(name)}`)
  const { words, options, rest } = split
  if (words.length < row.words.length)
    return refuse(`${name} needs ${row.words[words.length]}: ${usageOf(name)}`)
  for (const [option, { required }] of Object.entries(row.options))
    if (required && !options.has(option))
      return refuse(`${name} needs --${option}: ${usageOf(name)}`)
  const flags = parseFlags(rest)
  if ('error' in flags) return refuse(flags.error)
  const { storageBackend } = flags.settings
  if (row.backends !== undefined && !row.backends.includes(storageBackend))
    return refuse(`${name} does not work with --storage-backend=${storageBackend}`)
  return { command: 'run', given: { name, words, options, flags } }
}

interface Split {
  readonly words: string[]
  readonly options: Map<string, string[]>
  /** The arguments for the server's flags. */
  readonly rest: string[]
}

function splitArguments(row: CommandRow, argv: readonly string[]): Split | { error: string } {
  const split: Split = { words: [], options: new Map(), rest: [] }
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i]!
    const [, name = '', equals] = /^--?([^=]*)(=?)/s.exec(arg) ?? []
    const option = Object.entries(row.options).find(
      ([known, { letter }]) => arg.startsWith('-') && (name === known || name === letter),
    )
    if (option === undefined) {
      // Command words come first. Later words may be values of flags.
      if (!arg.startsWith('-') && i < row.words.length) split.words.push(arg)
      else split.rest.push(arg)
      continue
    }
    const [known, { repeats }] = option
    const value = equals === '=' ? arg.slice(arg.indexOf('=') + 1) : argv[++i]
    if (value === undefined || value === '') return { error: `--${known} needs a value` }
    const before = split.options.get(known) ?? []
    if (before.length > 0 && !repeats) return { error: `--${known} is given twice` }
    split.options.set(known, [...before, value])
  }
  return split
}
