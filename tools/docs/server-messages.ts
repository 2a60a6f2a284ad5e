/**
 * The messages that operators see: what ends a start or a command, and what the log warns of. They
 * are read from the sources, so that a test finds those without an entry in
 * docs/troubleshooting.md.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const src = resolve(import.meta.dirname, '../../src')
const folders = ['cli', 'server', 'settings', 'storage']

/** A call whose first argument is a message: errors of operators, and lines of the log. */
const calls =
  /(?:new (?:CannotStart|StorageUnavailable)|\blog\.(?:warn|error)|\breport|\bunavailable|\bdamaged)\(\s*((?:(?:'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)(?:\s*\+\s*)?)+)/g

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
  const files = folders.flatMap((folder) =>
    readdirSync(join(src, folder), { recursive: true })
      .map((name) => `${folder}/${String(name)}`)
      .filter((name) => name.endsWith('.ts') && !/\.(test|suite|bench|child|fixture)\./.test(name)),
  )
  return files.flatMap((file) =>
    [...readFileSync(join(src, file), 'utf8').matchAll(calls)].flatMap(([, source = '']) => {
      const text = textOf(source)
      const [fixed = ''] = text.split('…').sort((a, b) => b.length - a.length)
      return fixed.trim().length < fixedLengthMin ? [] : [{ file, text, fixed: fixed.trim() }]
    }),
  )
}

/** The text of string literals that are joined by `+`. */
function textOf(source: string): string {
  const literals = source.match(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? []
  return literals
    .map((literal) => withoutValues(literal.slice(1, -1)))
    .join('')
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
