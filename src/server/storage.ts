/** Opens the store that the flags select. */
import type { TimerClock } from '#base/clock.ts'
import { loadLater } from '#base/load-later.ts'
import { type Storage, StorageUnavailable } from '#storage/storage.ts'
import type { Settings } from '#settings/flags.ts'
import { givenAuthorities, givenPair } from './key-pair.ts'

type Memory = typeof import('#storage/memory/memory.ts')
type Sqlite = typeof import('#storage/sqlite/sqlite.ts')
type Etcd = typeof import('#storage/etcd/etcd.ts')
const loadMemory = loadLater<Memory>(import.meta.url, '#storage/memory/memory')
const loadSqlite = loadLater<Sqlite>(import.meta.url, '#storage/sqlite/sqlite')
const loadEtcd = loadLater<Etcd>(import.meta.url, '#storage/etcd/etcd')

/**
 * How long the start waits for an etcd that does not answer yet: it may start with this server, and
 * more slowly.
 */
const etcdAwaitedMsMax = 20_000
/** Milliseconds before the start prints a warning. */
const etcdWarnedAfterMs = 500

export async function openStorage(
  settings: Settings,
  clock: TimerClock,
  warn: (message: string) => void,
): Promise<Storage> {
  switch (settings.storageBackend) {
    case 'memory': {
      const { createMemoryStorage } = loadMemory()
      return createMemoryStorage({ clock })
    }
    case 'sqlite': {
      const { openSqliteStorage } = loadSqlite()
      return openSqliteStorage({ directory: settings.dataDir, clock, warn })
    }
    case 'etcd3': {
      // Check the files first, because the etcd client would only report a failed connection.
      givenAuthorities(settings.etcdCafile)
      givenPair(settings.etcdCertfile, settings.etcdKeyfile)
      const { openEtcdStorage } = loadEtcd()
      const storage = await openEtcdStorage({
        endpoints: settings.etcdServers,
        tls: {
          cafile: settings.etcdCafile,
          certfile: settings.etcdCertfile,
          keyfile: settings.etcdKeyfile,
        },
        // 0 means no request timeout. Requests to etcd then still have a default timeout.
        ...(settings.requestTimeoutMs > 0 && { deadlineMs: settings.requestTimeoutMs }),
        healthDeadlineMs: settings.etcdHealthcheckTimeoutMs,
        leaseSharedSecondsMax: settings.leaseReuseDurationSeconds,
        watchPrefix: `${settings.etcdPrefix}/`,
      })
      await answering(storage, warn)
      return storage
    }
  }
}

/** Rejects with the reason if etcd does not respond in time. */
async function answering(storage: Storage, warn: (message: string) => void): Promise<void> {
  const late = Promise.withResolvers<never>()
  const reason = () => storage.trouble() ?? 'etcd does not answer'
  const end = setTimeout(() => late.reject(new StorageUnavailable(reason())), etcdAwaitedMsMax)
  const warning = setTimeout(() => warn(`${reason()}: waiting for it`), etcdWarnedAfterMs)
  try {
    await Promise.race([storage.currentRevision(), late.promise])
  } finally {
    clearTimeout(end)
    clearTimeout(warning)
  }
}
