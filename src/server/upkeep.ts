/**
 * Starts the work that no request triggers: compaction, backups, certificate renewal, and
 * re-reading of authority files. Also watches for other servers on the store with other keys.
 */
import type { Access } from '#access/make-access.ts'
import { loadLater } from '#base/load-later.ts'
import type { Listener } from '#http/connections/listener.ts'
import { ensureCertificates, givenFiles } from './certificates.ts'
import { compactRegularly } from './compaction.ts'
import type { Foundation } from './foundation.ts'
import { writeKubeconfig } from './kubeconfig.ts'
import { followAuthorities, listenerKeys } from './make-http.ts'
import type { OperationMeter } from './operation-metrics.ts'
import { renewDaily } from './renewal.ts'

const loadBackups = loadLater<typeof import('./scheduled-backups.ts')>(
  import.meta.url,
  './scheduled-backups',
)
const loadOtherKeys = loadLater<typeof import('./other-keys.ts')>(import.meta.url, './other-keys')

export interface Upkeep {
  /** Resolves when the parts that write to the store have ended. */
  stop(): Promise<void>
}

export function startUpkeep(
  foundation: Foundation,
  listener: Listener,
  access: Access,
  meter: OperationMeter,
): Upkeep {
  const { settings, storage, certificates, loopback, log, report, clock } = foundation
  const compaction = compactRegularly(
    storage,
    settings.etcdCompactionIntervalMs,
    (message, error) => {
      meter.compactionFailed()
      log.warn(message, { error })
    },
    () => meter.compacted(clock.now()),
  )
  meter.certificates(certificates)
  const others = [
    ...(settings.backupIntervalMs > 0
      ? [loadBackups().backUpRegularly(settings, clock, log, meter)]
      : []),
    ...(settings.storageBackend === 'etcd3' ? [loadOtherKeys().watchOtherKeys(foundation)] : []),
  ]
  const renewal = renewDaily(
    certificates,
    () => ensureCertificates(settings, clock),
    (fresh) => {
      listener.renew(listenerKeys(fresh, loopback))
      writeKubeconfig(settings, fresh)
      meter.certificates(fresh)
    },
    (error) => report('certificates could not be renewed', error),
    clock,
    givenFiles(settings),
  )
  const stopAuthorities = followAuthorities(access, listener)
  return {
    async stop() {
      compaction.stop()
      renewal.stop()
      stopAuthorities()
      for (const other of others) await other.stop()
    },
  }
}
