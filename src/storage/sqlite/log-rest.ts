/**
 * Truncates the file of the write-ahead log to its limit after writes have stopped, because SQLite
 * does so only at the next write. It checks the file once a second while there are writes, and not
 * at all otherwise.
 */
import { logFileBytes } from './log-checkpoint.ts'

const lookEveryMs = 1000

export interface LogRestOptions {
  readonly file: string
  readonly limitBytes: number
  /** Empties the log, unless a connection uses it: then it is called again. */
  empty(): void
  /** The file was shortened. */
  emptied(): void
}

export class LogRest {
  readonly #options: LogRestOptions
  #timer: NodeJS.Timeout | undefined
  #isWritten = false
  #isEmptying = false

  constructor(options: LogRestOptions) {
    this.#options = options
  }

  written(): void {
    this.#isWritten = true
    this.#timer ??= setTimeout(() => this.#look(), lookEveryMs).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #look(): void {
    const { file, limitBytes } = this.#options
    const isBusy = this.#isWritten
    const isLong = logFileBytes(file) > limitBytes
    this.#isWritten = false
    this.#timer = isBusy || isLong ? setTimeout(() => this.#look(), lookEveryMs).unref() : undefined
    if (isBusy) return
    if (isLong) this.#options.empty()
    else if (this.#isEmptying) this.#options.emptied()
    this.#isEmptying = isLong
  }
}
