/** The store the flags ask for, opened. */
import type { TimerClock } from '#base/clock.ts'
import { loadLater } from '#base/load-later.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Storage, StorageUnavailable } from '#storage/storage.ts'
import type { Settings } from '#settings/flags.ts'
import { givenAuthorities, givenPair } from './key-pair.ts'

type Memory = typeof import('#storage/memory/memory.ts')
type Sqlite = typeof import('#storage/sqlite/sqlite.ts')
type Etcd = typeof import('#storage/etcd/etcd.ts')
const loadMemory = loadLater<Memory>(import.meta.url, '#storage/memory/memory')
const loadSqlite = loadLater<Sqlite>(import.meta.url, '#storage/sqlite/sqlite')
const loadEtcd = loadLater<Etcd>(import.meta.url, '#storage/etcd/etcd')

/** How long an etcd that does not answer yet is waited for: it may start with this server, and more slowly. */
const etcdAwaitedMsMax = 20_000
const etcdAskedEveryMs = 500

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
      return openSqliteStorage({ directory: settings.dataDir, clock })
    }
    case 'etcd3': {
      // The way to etcd would only say that it cannot connect.
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
        healthDeadlineMs: settings.etcdHealthcheckTimeoutMs,
        leaseSharedSecondsMax: settings.leaseReuseDurationSeconds,
        watchPrefix: `${settings.etcdPrefix}/`,
      })
      await answering(storage, warn)
      return storage
    }
  }
}

async function answering(storage: Storage, warn: (message: string) => void): Promise<void> {
  const end = performance.now() + etcdAwaitedMsMax
  for (let attempt = 1; ; attempt++) {
    try {
      await storage.currentRevision()
      return
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || performance.now() > end) throw error
      if (attempt === 1) warn(`${error.message}: waiting for it`)
      await sleep(etcdAskedEveryMs)
    }
  }
}
