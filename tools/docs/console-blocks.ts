/**
 * The commands of a page. They are in fenced blocks marked `console`: a line that begins with `$ `
 * is a command, `> ` goes on with it, and the lines below are what it prints. `…` stands for any
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
  readonly needs?: string
}

export function consoleCommands(page: string): ConsoleCommand[] {
  const commands: ConsoleCommand[] = []
  const lines = page.split('\n')
  let needs: string | undefined
  let isInside = false
  for (const [at, line] of lines.entries()) {
    const opening = /^```console(?: needs=(\S+))?$/.exec(line)
    if (opening !== null) {
      isInside = true
      needs = opening[1]
    } else if (line.startsWith('```')) isInside = false
    else if (isInside) addLine(commands, line, at + 1, needs)
  }
  return commands
}

function addLine(
  commands: ConsoleCommand[],
  line: string,
  at: number,
  needs: string | undefined,
): void {
  const last = commands.at(-1)
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
