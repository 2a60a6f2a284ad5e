/**
 * Shows the progress of a long operation: one changing line in a terminal, a line every few seconds
 * in a file.
 */

const terminalEveryMs = 100
const fileEveryMs = 5000

export interface ProgressLine {
  update(done: number, total: number): void
  /** Ends the line, so that later output starts on a new one. */
  end(): void
}

export function progressLine(
  what: string,
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
  now: () => number = () => performance.now(),
): ProgressLine {
  const everyMs = stream.isTTY ? terminalEveryMs : fileEveryMs
  let shownAt = now()
  let isShown = false
  return {
    update(done, total) {
      if (now() - shownAt < everyMs) return
      shownAt = now()
      const share = total === 0 ? 100 : Math.floor((done / total) * 100)
      const line = `${what}: ${done} of ${total} (${share} %)`
      stream.write(stream.isTTY ? `\r\x1b[K${line}` : `${line}\n`)
      isShown = true
    },
    end() {
      if (isShown && stream.isTTY) stream.write('\r\x1b[K')
    },
  }
}
