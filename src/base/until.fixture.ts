/**
 * Waits in tests for a condition, never for a fixed time. The limit is generous because other
 * programs may use all cores; only a failing test reaches it.
 */

const patienceMs = 60_000
const lookEveryMs = 5

/**
 * Polls until the result is neither undefined nor false, and returns it; a timeout names what it
 * waited for.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
): Promise<Exclude<T, false | undefined>> {
  for (const end = performance.now() + patienceMs; ; ) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen as Exclude<T, false | undefined>
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
  }
}
