/** The store the flags ask for, opened. */
import { systemClock } from '#base/clock.ts'
import type { Storage } from '#storage/storage.ts'
import type { Settings } from './flags.ts'
import { givenAuthorities, givenPair } from './key-pair.ts'

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
      // The way to etcd would only say that it cannot connect.
      givenAuthorities(settings.etcdCafile)
      givenPair(settings.etcdCertfile, settings.etcdKeyfile)
      const { openEtcdStorage } = await import('#storage/etcd/etcd.ts')
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
