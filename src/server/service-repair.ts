/**
 * On a store with other users, a server that died may have left cluster IPs or ports claimed that
 * no service has: they are looked for at the start and every so often.
 */
import type { Allocators } from '#verbs/allocate.ts'

/** As often as kube-apiserver does it. */
const intervalMs = 180_000

export function repairRegularly(
  allocators: Pick<Allocators, 'repair'>,
  report: (message: string, error: unknown) => void,
): { stop(): void } {
  const turn = () =>
    allocators
      .repair()
      .catch((error) =>
        report('what services were given could not be checked; it is tried again', error),
      )
  const timer = setInterval(turn, intervalMs)
  timer.unref()
  void turn()
  return { stop: () => clearInterval(timer) }
}
