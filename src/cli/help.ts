/**
 * The output of `--help`, and the pages docs/flags.md and docs/commands.md. All are generated from
 * the tables of flags and commands. Help on a topic omits flags without effect; docs/flags.md lists
 * every flag.
 */
import { type Group, groups, releasesOf, type Row } from '#settings/flag-row.ts'
import { flagTable } from '#settings/flag-table.ts'
import { unreadFlags } from '#settings/unread-flags.ts'
import { usageOf } from './command.ts'
import { type CommandRow, commandTable } from './command-table.ts'

const rows = Object.entries(flagTable) as [string, Row<unknown>][]

const usage = `binnacle: a Kubernetes API server in one process

  binnacle [start] [flags]      serve, until Ctrl-C
  binnacle COMMAND [flags]      one of the commands below
  binnacle --help[=TOPIC|=all]  this text, the flags of a topic, all flags
  binnacle --version            the version, and the default release
`
const commands: Readonly<Record<string, CommandRow>> = commandTable

function spelled(name: string, row: Row<unknown>): string {
  const initial = row.shape.show(row.initial)
  if (row.shape.word === '') return `--${name}${initial === 'true' ? '=true' : ''}`
  return `--${name}=${initial === '' ? row.shape.word : initial}`
}

function remarks(row: Row<unknown>): string {
  const [which, release] = releasesOf(row).split(' ')
  if (release === undefined) return ''
  return which === 'since' ? ` Since release ${release}.` : ` Until release ${release}.`
}

/** Breaks a sentence into lines no longer than `width`. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

const indent = '        '
const widthMin = 50

/** One topic per group of flags: `--help=storage`. */
const topics: Readonly<Record<string, Group>> = {
  serving: 'Serving',
  storage: 'Storage',
  requests: 'Requests',
  release: 'Release and features',
  services: 'Services',
  authentication: 'Authentication',
  accounts: 'Service accounts',
  oidc: 'OpenID Connect',
  webhooks: 'Webhook authentication and authenticating proxy',
  authorization: 'Authorization',
  admission: 'Admission',
  audit: 'Audit',
  kubelets: 'Kubelets and aggregated servers',
  controllers: 'Controllers',
  instruments: 'Instruments',
}

/** The flags of the short help: those that most users need. */
const usualFlags: readonly [name: keyof typeof flagTable, words: string][] = [
  ['secure-port', 'the port of HTTPS'],
  ['data-dir', 'database, certificates and kubeconfig'],
  ['storage-backend', 'sqlite, memory or etcd3'],
  ['emulated-version', 'the release of Kubernetes to emulate'],
  ['controllers', 'which controllers run; -* for none'],
  ['v', 'what the log shows: 0, 2 or 4'],
]

/**
 * `--help`, `--help=all`, `--help=storage` or `--help=etcd-servers`; undefined for an unknown
 * topic.
 */
export function helpText(topic = '', width = 100): string | undefined {
  if (topic === '') return firstScreen()
  if (Object.hasOwn(commands, topic)) return commandLines(topic, width)
  if (topic === 'all')
    return [
      usage,
      ...Object.keys(commands).map((name) => commandLines(name, width)),
      ...groups.flatMap((group) => groupLines(group, width)),
    ].join('\n')
  const group = topics[topic]
  if (group !== undefined) return groupLines(group, width).join('\n')
  const name = topic.replace(/^-+/, '')
  const row = rows.find(([known]) => known === name)
  return row === undefined ? undefined : `${flagLines(row, width).join('\n')}\n`
}

export const unknownTopic = (topic: string): string =>
  `no help on ${JSON.stringify(topic)}; --help=all, the name of a flag or a command, or one of ${Object.keys(topics).join(', ')}`

/** At most 24 lines of 80 columns, the size of the smallest usual terminal. */
function firstScreen(): string {
  const flags = usualFlags.map(([name, words]) => {
    const flag = spelled(name, flagTable[name] as Row<unknown>)
    return `  ${flag.padEnd(28)}  ${words}`
  })
  const listed = (names: object) =>
    wrap(Object.keys(names).join(' '), 76).map((line) => `  ${line}`)
  const parts = [
    usage,
    'Most used flags:',
    ...flags,
    '',
    'Commands (binnacle COMMAND --help explains one):',
    ...listed(commands),
    '',
    'Topics of --help=TOPIC:',
    ...listed(topics),
    '',
  ]
  return parts.join('\n')
}

/** The usage, summary and options of a command. */
function commandLines(name: string, width: number): string {
  const { summary, options } = commands[name]!
  const lines = [`  ${usageOf(name)}`, `${indent}${summary}`]
  for (const [option, { word, letter, meaning, repeats }] of Object.entries(options)) {
    const text = repeats ? `${meaning} May be given several times.` : meaning
    const short = letter === undefined ? '' : `-${letter}, `
    lines.push(`  ${short}--${option} ${word}`)
    lines.push(...wrap(text, Math.max(width, widthMin) - indent.length).map((l) => indent + l))
  }
  return `${lines.join('\n')}\n`
}

/** docs/commands.md is made from the same rows. */
export function commandsPage(): string {
  const out = [
    '# Commands',
    '',
    'Every command takes the flags of the server that say where the state is: `--data-dir`, or `--etcd-servers` with its certificates.',
    '',
    'This page is made from the command table: `node tools/run.mjs file tools/flags-page.ts`.',
  ]
  for (const [name, { summary, options }] of Object.entries(commands)) {
    const start = summary.charAt(0).toUpperCase() + summary.slice(1)
    out.push('', `## ${name}`, '', `${start}.`, '', '```text', usageOf(name), '```')
    const rows = Object.entries(options)
    if (rows.length > 0) out.push('', '| option | meaning |', '| --- | --- |')
    for (const [option, { word, meaning, letter }] of rows) {
      const short = letter === undefined ? '' : `\`-${letter}\`, `
      out.push(`| ${short}\`--${option} ${word}\` | ${meaning} |`)
    }
  }
  return `${out.join('\n')}\n`
}

/**
 * A group, each flag with its default after the `=` (or the kind of value it takes) and its meaning
 * below.
 */
function groupLines(group: Group, width: number): string[] {
  const inGroup = rows.filter(([, row]) => row.group === group && row.status === 'wired')
  if (inGroup.length === 0) return []
  return [`${group}:`, ...inGroup.flatMap((row) => flagLines(row, width)), '']
}

function flagLines([name, row]: [string, Row<unknown>], width: number): string[] {
  const { accepts, word } = row.shape
  const value = word === '' || word === 'TEXT' ? '' : ` Value: ${accepts}.`
  const text = row.meaning + value + remarks(row)
  const lines = wrap(text, Math.max(width, widthMin) - indent.length)
  return [`  ${spelled(name, row)}`, ...lines.map((line) => indent + line)]
}

const cell = (text: string) => text.replaceAll('|', '\\|')

/** docs/flags.md. */
export function flagsPage(): string {
  const out = [
    '# Flags',
    '',
    'Names and meanings are those of kube-apiserver wherever it has the flag. `--name=value` or `--name value`; a boolean may stand alone; lists are separated',
    'by commas or given by repeating the flag. A flag that is unknown, has a bad value, or has no effect yet stops the start with a line that says so.',
    '',
    'This page is made from the flag table: `node tools/run.mjs file tools/flags-page.ts`.',
  ]
  for (const group of groups) {
    const inGroup = rows.filter(([, row]) => row.group === group)
    out.push('', `## ${group}`, '', '| flag | default | meaning |', '| --- | --- | --- |')
    for (const [name, row] of inGroup) {
      const initial = row.shape.show(row.initial)
      const status = row.status === 'wired' ? '' : ' **No effect yet: refused.**'
      out.push(
        `| \`--${name}\` | ${initial === '' ? '' : `\`${cell(initial)}\``} | ${cell(row.meaning + remarks(row) + status)} |`,
      )
    }
  }
  out.push(...unreadPart())
  return `${out.join('\n')}\n`
}

function unreadPart(): string[] {
  const rows = [...unreadFlags].map(
    ([name, { words, why }]) => `| \`--${name}\` | ${words} | ${cell(why)} |`,
  )
  return [
    '',
    '## Flags of kube-apiserver that change nothing here',
    '',
    'A manifest may give these if their value describes what the server does anyway; any other value stops the start.',
    '',
    '| flag | may be | because |',
    '| --- | --- | --- |',
    ...rows,
  ]
}
