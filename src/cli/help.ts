/**
 * What `--help` prints, and the page of all flags in docs/: both are made from the flag table and nothing else.
 * Flags that no part of the server reads are left out.
 */
import { groups, type Row } from '#settings/flag-row.ts'
import { flagTable } from '#settings/flag-table.ts'
import { unreadFlags } from '#settings/unread-flags.ts'

const rows = Object.entries(flagTable) as [string, Row<unknown>][]

const usage = `binnacle: a Kubernetes API server in one process

  binnacle [start] [flags]       serve, until Ctrl-C
  binnacle backup FILE [flags]   write a copy of the state to FILE, while the server runs or not
  binnacle --help                this text
  binnacle --version             the version, and the release of Kubernetes it is by default
`

function spelled(name: string, row: Row<unknown>): string {
  const initial = row.shape.show(row.initial)
  if (row.shape.word === '') return `--${name}${initial === 'true' ? '=true' : ''}`
  return `--${name}=${initial === '' ? row.shape.word : initial}`
}

function remarks(row: Row<unknown>): string {
  if (row.since !== undefined) return ` Since release ${row.since}.`
  return row.until === undefined ? '' : ` Until release ${row.until}.`
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

/** Grouped, each flag with its default after the `=` (or the kind of value it wants) and what it means below. */
export function helpText(width = 100): string {
  const out = [usage]
  for (const group of groups) {
    const inGroup = rows.filter(([, row]) => row.group === group && row.status === 'wired')
    if (inGroup.length === 0) continue
    out.push(`${group}:`)
    for (const [name, row] of inGroup) {
      out.push(`  ${spelled(name, row)}`)
      const wants =
        row.shape.word === '' || row.shape.word === 'TEXT' ? '' : ` Wants ${row.shape.accepts}.`
      for (const line of wrap(
        row.meaning + wants + remarks(row),
        Math.max(width, widthMin) - indent.length,
      ))
        out.push(indent + line)
    }
    out.push('')
  }
  return out.join('\n')
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
    'A manifest may give these where what they ask for is so anyway; any other value stops the start.',
    '',
    '| flag | may be | because |',
    '| --- | --- | --- |',
    ...rows,
  ]
}
