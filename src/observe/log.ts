/** Lines for people and machines on standard error: time, level, message, fields. It never throws and never waits. */
import { StorageUnavailable, Unreadable } from '#storage/storage.ts'

export interface Log {
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
  /** How much is said; may be changed while the server runs. */
  verbosity: number
}

export function createLog(
  verbosity: number,
  write: (line: string) => void,
  now: () => number,
): Log {
  const say = (level: string) => (message: string, fields?: Record<string, unknown>) => {
    let line = `${new Date(now()).toISOString()} ${level} ${message}`
    for (const [name, value] of Object.entries(fields ?? {})) {
      line += ` ${name}=${typeof value === 'string' ? JSON.stringify(value) : textOf(value)}`
    }
    write(`${line}\n`)
  }
  return { info: say('info'), warn: say('warn'), error: say('error'), verbosity }
}

function textOf(value: unknown): string {
  // A store in trouble, or what it holds, is no defect of the code that met it: its message says all.
  if (value instanceof StorageUnavailable || value instanceof Unreadable)
    return JSON.stringify(value.message)
  if (value instanceof Error) return JSON.stringify(value.stack ?? value.message)
  try {
    return JSON.stringify(value) ?? 'undefined'
  } catch {
    return '"…"'
  }
}
