/** The store the flags ask for, opened. */
import { readFileSync } from 'node:fs'
import { systemClock } from '#base/clock.ts'
import type { Storage } from '#storage/storage.ts'
import type { Settings } from './flags.ts'

export async function openStorage(settings: Settings): Promise<Storage> {
  switch (settings.storageBackend) {
    case 'memory': {
      const { createMemoryStorage } = await import('#storage/memory/memory.ts')
      return createMemoryStorage({ clock: systemClock })
    }
    case 'sqlite': {
      const { openSqliteStorage } = await import('#storage/sqlite/sqlite.ts')
      return openSqliteStorage({ directory: settings.dataDir, clock: systemClock })
    }
    case 'etcd3': {
      const { openEtcdStorage } = await import('#storage/etcd/etcd.ts')
      const file = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path))
      return openEtcdStorage({
        endpoints: settings.etcdServers,
        tls: {
          ca: file(settings.etcdCafile),
          cert: file(settings.etcdCertfile),
          key: file(settings.etcdKeyfile),
        },
        watchPrefix: `${settings.etcdPrefix}/`,
      })
    }
  }
}
