/**
 * On a store with other users, a server that died may have left cluster IPs or ports claimed that no service has: they
 * are looked for at the start and every so often. Other stores have nothing to mend.
 */
import type { Allocators } from '#verbs/allocate.ts'
import type { Settings } from './flags.ts'

/** As often as kube-apiserver does it. */
const intervalMs = 180_000

export function repairRegularly(
  { storageBackend }: Pick<Settings, 'storageBackend'>,
  allocators: Pick<Allocators, 'repair'>,
  report: (message: string, error: unknown) => void,
): { stop(): void } {
  if (storageBackend !== 'etcd3') return { stop() {} }
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
