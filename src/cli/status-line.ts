/**
 * The status line at the bottom of a terminal while the server runs: requests per second, watches,
 * objects and size of the store. Log lines appear above it. Redirected output has no status line,
 * and neither has a server in the background, because the user types below it.
 */
import { readFileSync } from 'node:fs'
import type { ServerStatus } from '#server/server-status.ts'

const everyMs = 1000
const clearLine = '\r\x1b[K'

type Terminal = Pick<NodeJS.WriteStream, 'write' | 'columns'>

/** Whether both streams are a terminal that supports cursor movement. */
export const isTerminal = (
  stdout: { isTTY?: boolean },
  stderr: { isTTY?: boolean },
  term: string | undefined,
): boolean => stdout.isTTY === true && stderr.isTTY === true && term !== 'dumb'

/**
 * Whether a process is in the foreground of its terminal, from Linux' /proc/self/stat: its process
 * group (5th field) is that of the terminal (8th). The name may contain spaces and brackets.
 *
 *   71 (node) S 70 71 70 34816 71 …   in the foreground
 */
export function isForeground(stat: string): boolean {
  const [, , group, , , foregroundGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return group === foregroundGroup
}

/** Other systems do not show it in a file. There the server counts as in the foreground. */
function isInForeground(): boolean {
  try {
    return isForeground(readFileSync('/proc/self/stat', 'utf8'))
  } catch {
    return true
  }
}

const size = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`

export function statusText(now: ServerStatus, before: ServerStatus, passedMs: number): string {
  const rate = Math.round(((now.requests - before.requests) * 1000) / passedMs)
  const store = now.storeBytes === undefined ? '' : ` · store ${size(now.storeBytes)}`
  return `${rate} requests/s · ${now.watchers} watches · ${now.objects} objects${store} · Ctrl-C stops`
}

export class StatusLine {
  readonly #terminal: Terminal
  #shown = ''

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  /** Writes lines above the status. */
  write(text: string): void {
    this.#terminal.write(this.#shown === '' ? text : `${clearLine}${text}${this.#shown}`)
  }

  show(status: string): void {
    this.#shown = status.slice(0, Math.max(0, (this.#terminal.columns ?? 80) - 1))
    this.#terminal.write(`${clearLine}${this.#shown}`)
  }

  end(): void {
    if (this.#shown !== '') this.#terminal.write(clearLine)
    this.#shown = ''
  }
}

/** Shows the status every second until it is stopped. */
export function showStatus(line: StatusLine, read: () => Promise<ServerStatus>): { stop(): void } {
  let before: { status: ServerStatus; at: number } | undefined
  let isStopped = false
  const look = async () => {
    const status = await read()
    const at = performance.now()
    if (isStopped) return
    if (!isInForeground()) line.end()
    else if (before !== undefined) line.show(statusText(status, before.status, at - before.at))
    before = { status, at }
  }
  // If the store does not respond, the previous line stays.
  const timer = setInterval(() => void look().catch(() => {}), everyMs).unref()
  void look().catch(() => {})
  return {
    stop() {
      isStopped = true
      clearInterval(timer)
      line.end()
    },
  }
}
