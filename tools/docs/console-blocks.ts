/**
 * The commands of a page. They are in fenced blocks marked `console`: a line that begins with `$ `
 * is a command. `> ` goes on with it, and the lines below are what it prints. `…` stands for any
 * text; a line of `…` alone for any number of lines.
 *
 *   ```console
 *   $ kubectl create namespace shop
 *   namespace/shop created
 *   ```
 *
 * `console needs=docker` marks a block whose program is not everywhere. Other blocks show files and
 * output.
 */

export interface ConsoleCommand {
  readonly line: number
  readonly command: string
  readonly expected: readonly string[]
  /** It ends in ` &`: what it prints is waited for. */
  readonly isServer: boolean
  readonly needs?: readonly string[]
  /** Files that the page shows before the command. */
  readonly files?: readonly PageFile[]
}

export interface PageFile {
  readonly path: string
  readonly text: string
}

export interface Block {
  /** Of the opening fence, from 1. */
  readonly line: number
  /** What follows the fence: `console needs=etcd`. */
  readonly kind: string
  readonly lines: readonly string[]
}

export function blocksOf(page: string): Block[] {
  const blocks: { line: number; kind: string; lines: string[] }[] = []
  let isInside = false
  for (const [at, line] of page.split('\n').entries()) {
    if (line.startsWith('```')) {
      isInside = !isInside
      if (isInside) blocks.push({ line: at + 1, kind: line.slice(3).trim(), lines: [] })
    } else if (isInside) blocks.at(-1)!.lines.push(line)
  }
  return blocks
}

/** `needs=etcd,curl` of a fence. */
const optionOf = (kind: string, name: string): string | undefined =>
  kind
    .split(' ')
    .find((word) => word.startsWith(`${name}=`))
    ?.slice(name.length + 1)

export function consoleCommands(page: string): ConsoleCommand[] {
  const commands: ConsoleCommand[] = []
  let files: PageFile[] = []
  for (const { line, kind, lines } of blocksOf(page)) {
    const path = optionOf(kind, 'file')
    if (path !== undefined) files.push({ path, text: `${lines.join('\n')}\n` })
    if (kind.split(' ')[0] !== 'console') continue
    const first = commands.length
    const needs = optionOf(kind, 'needs')?.split(',')
    for (const [at, text] of lines.entries()) addLine(commands, text, line + 1 + at, first, needs)
    if (files.length > 0 && commands[first] !== undefined) {
      commands[first] = { ...commands[first], files }
      files = []
    }
  }
  return commands
}

function addLine(
  commands: ConsoleCommand[],
  line: string,
  at: number,
  first: number,
  needs: readonly string[] | undefined,
): void {
  const last = commands.length > first ? commands.at(-1) : undefined
  if (line.startsWith('$ '))
    commands.push({
      line: at,
      command: line.slice(2),
      expected: [],
      isServer: line.endsWith(' &'),
      ...(needs !== undefined && { needs }),
    })
  else if (last === undefined) throw new Error(`line ${at}: output before a command`)
  else if (line.startsWith('> ') && last.expected.length === 0)
    commands[commands.length - 1] = { ...last, command: `${last.command}\n${line.slice(2)}` }
  else commands[commands.length - 1] = { ...last, expected: [...last.expected, line] }
}

/** Whether the output is the expected one; spaces of columns may differ in number. */
export function matches(output: string, expected: readonly string[]): boolean {
  const plain = (line: string) => line.replaceAll(/\s+/g, ' ').trim()
  const source = expected
    .map((line) => {
      if (line.trim() === '…') return '(?:.*\\n)*?'
      const parts = plain(line).split('…')
      const escaped = parts.map((part) => part.replaceAll(/[.*+?^$()[\]{}|\\/]/g, '\\$&'))
      return `${escaped.join('.*')} *\\n`
    })
    .join('')
  const lines = output.trimEnd() === '' ? [] : output.trimEnd().split('\n')
  return new RegExp(`^${source}$`).test(lines.map((line) => `${plain(line)}\n`).join(''))
}
