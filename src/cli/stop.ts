/**
 * How the server ends: SIGINT or SIGTERM run the steps given, one after another, and then the process exits; a second
 * signal ends it at once. A step that fails or takes too long is told and the next one runs all the same.
 */

export interface StopStep {
  readonly name: string
  run(): void | Promise<void>
  /** How long this step may take; the default is enough for running requests to end. */
  readonly timeoutMs?: number
}

/** What stopping needs of the process, so that a test can be the process. */
export interface Host {
  on(signal: 'SIGINT' | 'SIGTERM', heard: (signal: string) => void): unknown
  exit(code: number): void
  now(): number
}

const stepTimeoutMs = 60_000
/**
 * Ctrl-C reaches a server started by npm twice, from the terminal and passed on by its parents. Signals this close are one.
 */
const sameSignalMs = 500

const thisProcess: Host = {
  on: (signal, heard) => process.on(signal, heard),
  exit: (code) => process.exit(code),
  now: () => performance.now(),
}

export function stopOnSignal(
  steps: readonly StopStep[],
  say: (text: string) => void,
  host: Host = thisProcess,
): void {
  let since: number | undefined
  const stop = async (signal: string) => {
    if (since !== undefined) {
      if (host.now() - since < sameSignalMs) return
      say(`${signal} again: ending at once`)
      host.exit(1)
      return
    }
    since = host.now()
    say(`${signal}: stopping`)
    let code = 0
    for (const step of steps) {
      const trouble = await runStep(step)
      if (trouble === undefined) continue
      say(`${step.name}: ${trouble}`)
      code = 1
    }
    host.exit(code)
  }
  const heard = (signal: string) => void stop(signal)
  host.on('SIGINT', heard)
  host.on('SIGTERM', heard)
}

/** What went wrong in a step, or nothing. */
async function runStep(step: StopStep): Promise<string | undefined> {
  const limitMs = step.timeoutMs ?? stepTimeoutMs
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`not done after ${limitMs} ms`), limitMs)
  })
  const done = async () => {
    await step.run()
    return undefined
  }
  try {
    return await Promise.race([done(), late])
  } catch (error) {
    return (error as Error).message
  } finally {
    clearTimeout(timer)
  }
}
