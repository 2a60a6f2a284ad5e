/**
 * Ends the process. SIGINT or SIGTERM closes the server, and then the process exits. A second
 * signal ends it at once.
 */
import { ClosedWithProblems } from '#server/closing.ts'

/** The parts of the process that stopping uses, so that tests can replace them. */
export interface Host {
  on(signal: 'SIGINT' | 'SIGTERM', received: (signal: string) => void): unknown
  exit(code: number): void
  now(): number
}

/**
 * npm passes Ctrl-C on, so a server that npm started gets it twice. Signals within this time count
 * as one.
 */
const sameSignalMs = 500

const thisProcess: Host = {
  on: (signal, received) => process.on(signal, received),
  exit: (code) => process.exit(code),
  now: () => performance.now(),
}

export function stopOnSignal(
  close: () => Promise<void>,
  print: (text: string) => void,
  host: Host = thisProcess,
): void {
  let since: number | undefined
  const stop = async (signal: string) => {
    if (since !== undefined) {
      if (host.now() - since < sameSignalMs) return
      print(`${signal} again: ending at once`)
      host.exit(1)
      return
    }
    since = host.now()
    print(`${signal}: stopping`)
    let code = 0
    try {
      await close()
    } catch (error) {
      const problems =
        error instanceof ClosedWithProblems ? error.problems : [(error as Error).message]
      for (const problem of problems) print(problem)
      code = 1
    }
    print('stopped')
    host.exit(code)
  }
  const received = (signal: string) => void stop(signal)
  host.on('SIGINT', received)
  host.on('SIGTERM', received)
}
