/**
 * Gives back what the file of the log takes beyond its limit when writes have ended: SQLite does so
 * only with the next write. It looks at the file once a second while writes come, and not at all
 * while none do.
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
