/**
 * Writes log lines with time, level, message and fields to standard error, as text or JSON. It
 * never throws and never waits.
 */
import { StorageUnavailable, Unreadable } from '#storage/storage.ts'

export interface Log {
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
  /** The level of detail; may be changed while the server runs. */
  verbosity: number
}

export function createLog(
  verbosity: number,
  write: (line: string) => void,
  now: () => number,
  format: 'text' | 'json' = 'text',
): Log {
  const lineOf = lines[format]
  const say = (level: string) => (message: string, fields?: Record<string, unknown>) =>
    write(`${lineOf(now(), level, message, Object.entries(fields ?? {}))}\n`)
  return { info: say('info'), warn: say('warn'), error: say('error'), verbosity }
}

type Line = (ms: number, level: string, message: string, fields: [string, unknown][]) => string

const lines: Record<'text' | 'json', Line> = {
  text(ms, level, message, fields) {
    let line = `${new Date(ms).toISOString()} ${level} ${onOneLine(message)}`
    for (const [name, value] of fields) line += ` ${name}=${textOf(value)}`
    return line
  },
  /** The names of time and message are those of kube-apiserver. */
  json(ms, level, message, fields) {
    let line = `{"ts":${ms},"level":"${level}","msg":${JSON.stringify(message)}`
    for (const [name, value] of fields)
      if (value !== undefined) line += `,${JSON.stringify(name)}:${textOf(value)}`
    return `${line}}`
  },
}

/**
 * Escapes control characters, because messages may contain text from users, such as owner uids.
 * Such text must not start a new line or move the cursor.
 */
const onOneLine = (message: string) =>
  message.replace(/[\p{Cc}\u2028\u2029]/gu, (sign) => {
    const code = sign.charCodeAt(0).toString(16).padStart(4, '0')
    return sign === '\n' ? '\\n' : `\\u${code}`
  })

/** Values that JSON cannot represent are logged as text. */
function textOf(value: unknown): string {
  // Store failures and unreadable values are not defects of the code, so their message is logged
  // without a stack.
  if (value instanceof StorageUnavailable || value instanceof Unreadable)
    return JSON.stringify(value.message)
  if (value instanceof Error) return JSON.stringify(value.stack ?? value.message)
  try {
    return JSON.stringify(value) ?? 'undefined'
  } catch {
    return '"…"'
  }
}
