/**
 * Checks the allocated addresses and ports of services at the start and periodically. A crashed
 * server may have left cluster IPs or ports allocated that no service has. Clients may delete
 * IPAddress objects.
 */
import type { Allocators } from '#verbs/allocate.ts'

/** As often as kube-apiserver does it. */
const intervalMs = 180_000
/** A server without others looks after its first answers: most find nothing. */
const laterMs = 1000

type Repairing = Pick<Allocators, 'repair'>
type Report = (message: string, error: unknown) => void

export function repairRegularly(allocators: Repairing, report: Report): { stop(): void } {
  let isStopped = false
  const turn = () =>
    allocators.repair().catch((error) => {
      if (isStopped) return
      report('what services were given could not be checked; it is tried again', error)
    })
  const timer = setInterval(turn, intervalMs)
  timer.unref()
  void turn()
  return {
    stop() {
      isStopped = true
      clearInterval(timer)
    },
  }
}

export function repairLater(
  allocators: Repairing,
  report: Report,
  afterMs = laterMs,
): { stop(): void } {
  let repair: { stop(): void } | undefined
  const timer = setTimeout(() => (repair = repairRegularly(allocators, report)), afterMs)
  timer.unref()
  return {
    stop() {
      clearTimeout(timer)
      repair?.stop()
    },
  }
}
