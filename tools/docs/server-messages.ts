/**
 * The messages that operators see: what ends a start or a command, what the log warns of, and what
 * the launcher of a checkout reports. They
 * are read from the sources, so that a test finds those without an entry in
 * docs/troubleshooting.md.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const folders = ['src/cli', 'src/server', 'src/settings', 'src/storage']
/** What runs before the server. */
const launchers = ['bin/binnacle.js', 'lib/prepare.cjs', 'tools/run.mjs']

/** String literals that are joined by `+`. */
const literals = /((?:(?:'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)(?:\s*\+\s*)?)+)/.source
/** A call whose first argument is a message: errors of operators, and lines of the log. */
const calls = new RegExp(
  `(?:new (?:CannotStart|StorageUnavailable)|\\blog\\.(?:warn|error)|\\breport|\\bunavailable|\\bdamaged|\\brefuse)\\(\\s*${literals}`,
  'g',
)
const launcherCalls = new RegExp(`(?:new Error|\\bsay|\\bstderr\\.write)\\(\\s*${literals}`, 'g')
const returned = new RegExp(`\\breturn ${literals}`, 'g')

/** Shorter ones say nothing by themselves. */
const fixedLengthMin = 12

export interface ServerMessage {
  readonly file: string
  /** With `…` for what varies. */
  readonly text: string
  /** The longest part that does not vary. */
  readonly fixed: string
}

export function serverMessages(): ServerMessage[] {
  const inFolders = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => `${folder}/${String(name)}`)
      .filter((name) => name.endsWith('.ts') && !/\.(test|suite|bench|child|fixture)\./.test(name)),
  )
  return [
    ...inFolders.flatMap((file) => messagesIn(file, calls)),
    ...launchers.flatMap((file) => messagesIn(file, launcherCalls)),
    ...messagesIn('src/cli/npm-flags.ts', returned),
  ]
}

function messagesIn(file: string, pattern: RegExp): ServerMessage[] {
  const source = readFileSync(join(root, file), 'utf8')
  return [...source.matchAll(pattern)].flatMap(([, found = '']) => {
    // Progress: another line follows.
    if (/ …['`]$/.test(found)) return []
    const text = textOf(found)
    const [longest = ''] = text.split('…').sort((a, b) => b.length - a.length)
    const fixed = longest.trim()
    return fixed.length < fixedLengthMin ? [] : [{ file, text, fixed }]
  })
}

/** The text of string literals that are joined by `+`. */
function textOf(source: string): string {
  const literals = source.match(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? []
  return literals
    .map((literal) => withoutValues(literal.slice(1, -1)))
    .join('')
    .replaceAll('\\n', '…')
    .replaceAll('\\`', '`')
    .replaceAll("\\'", "'")
}

/** Template literals may hold braces inside their values. */
function withoutValues(template: string): string {
  let out = ''
  for (let i = 0; i < template.length; i++) {
    if (!template.startsWith('${', i)) {
      out += template[i]
      continue
    }
    let depth = 1
    for (i += 2; depth > 0; i++) depth += template[i] === '{' ? 1 : template[i] === '}' ? -1 : 0
    i--
    out += '…'
  }
  return out
}
