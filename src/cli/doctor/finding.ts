/** One result of a check of `binnacle doctor`. */
export interface Finding {
  /** `warn`: an operation will fail later. `error`: a server cannot work. */
  readonly level: 'ok' | 'warn' | 'error'
  readonly area: 'versions' | 'certificates' | 'clock' | 'disk' | 'store'
  /** The result and, for a warning or error, what to do. */
  readonly text: string
}
