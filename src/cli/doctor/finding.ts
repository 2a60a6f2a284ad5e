/** One line of `binnacle doctor`. */
export interface Finding {
  /** `warn`: something will fail later. `error`: a server cannot work. */
  readonly level: 'ok' | 'warn' | 'error'
  readonly area: 'versions' | 'certificates' | 'clock' | 'disk' | 'store'
  /** What is found and, unless all is well, what to do. */
  readonly text: string
}
