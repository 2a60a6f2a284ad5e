/**
 * Delays after consecutive failures: they double up to a maximum, with a random part, so that
 * clients do not retry at the same time.
 */
export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

export function waitAfter(failures: number, { firstMs, longestMs }: Backoff): number {
  const whole = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30))
  return whole * (0.75 + Math.random() / 4)
}

/** Resolves after a delay, or when the signal aborts. It does not keep the process alive. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    timer.unref()
    signal.addEventListener('abort', done, { once: true })
  })
}
