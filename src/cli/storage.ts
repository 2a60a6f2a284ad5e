/** The store the flags ask for, opened. */
import { systemClock } from '#base/clock.ts'
import { loadLater } from '#base/load-later.ts'
import type { Storage } from '#storage/storage.ts'
import type { Settings } from './flags.ts'
import { givenAuthorities, givenPair } from './key-pair.ts'

type Memory = typeof import('#storage/memory/memory.ts')
type Sqlite = typeof import('#storage/sqlite/sqlite.ts')
type Etcd = typeof import('#storage/etcd/etcd.ts')
const loadMemory = loadLater<Memory>(import.meta.url, '#storage/memory/memory')
const loadSqlite = loadLater<Sqlite>(import.meta.url, '#storage/sqlite/sqlite')
const loadEtcd = loadLater<Etcd>(import.meta.url, '#storage/etcd/etcd')

export async function openStorage(settings: Settings): Promise<Storage> {
  switch (settings.storageBackend) {
    case 'memory': {
      const { createMemoryStorage } = loadMemory()
      return createMemoryStorage({ clock: systemClock })
    }
    case 'sqlite': {
      const { openSqliteStorage } = loadSqlite()
      return openSqliteStorage({ directory: settings.dataDir, clock: systemClock })
    }
    case 'etcd3': {
      // The way to etcd would only say that it cannot connect.
      givenAuthorities(settings.etcdCafile)
      givenPair(settings.etcdCertfile, settings.etcdKeyfile)
      const { openEtcdStorage } = loadEtcd()
      return openEtcdStorage({
        endpoints: settings.etcdServers,
        tls: {
          cafile: settings.etcdCafile,
          certfile: settings.etcdCertfile,
          keyfile: settings.etcdKeyfile,
        },
        watchPrefix: `${settings.etcdPrefix}/`,
      })
    }
  }
}
