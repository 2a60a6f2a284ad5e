/**
 * Checks the allocated addresses and ports of services at the start and periodically. A crashed
 * server may have left cluster IPs or ports allocated that no service has. Clients may delete
 * IPAddress objects.
 */
import type { Allocators } from '#verbs/allocate.ts'

/** kube-apiserver uses the same interval. */
const intervalMs = 180_000
/**
 * The delay of the first check on a server without peers. Most checks find nothing, so the first
 * responses come first.
 */
const laterMs = 1000

type Repairing = Pick<Allocators, 'repair'>
type Report = (message: string, error: unknown) => void

export function repairRegularly(allocators: Repairing, report: Report): { stop(): void } {
  let isStopped = false
  const turn = () =>
    allocators.repair().catch((error) => {
      if (isStopped) return
      report('the allocations of services could not be checked; the server tries again', error)
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
