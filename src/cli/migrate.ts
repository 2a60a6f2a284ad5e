/**
 * `binnacle migrate --from sqlite --to etcd3`, or the other way round, copies the current objects
 * between the database of --data-dir and the etcd of --etcd-servers. Keys and certificates stay in
 * the data directory. All servers must be stopped.
 */
import { existsSync } from 'node:fs'
import { systemClock } from '#base/clock.ts'
import { CannotStart } from '#server/cannot-start.ts'
import { authorityPath, certificateDirectory } from '#server/certificates.ts'
import { copyToDatabase, copyToStore, type Progress } from '#server/copy-store.ts'
import { liveMembers, memberLivesSeconds } from '#server/members.ts'
import { databasePath } from '#server/offline-store.ts'
import { ensurePrivateDirectory } from '#server/private-files.ts'
import { openStorage } from '#server/storage.ts'
import type { Settings } from '#settings/flags.ts'
import { lockDirectory } from '#storage/sqlite/data-directory.ts'
import { openSqliteStorage } from '#storage/sqlite/sqlite.ts'
import { prefixRange, type Storage } from '#storage/storage.ts'
import type { GivenCommand } from './command.ts'
import { progressLine } from './progress.ts'

export async function migrate({ options, flags: { settings } }: GivenCommand): Promise<void> {
  const way = `${options.get('from')?.[0]} to ${options.get('to')?.[0]}`
  if (way !== 'sqlite to etcd3' && way !== 'etcd3 to sqlite')
    throw new CannotStart(`cannot migrate ${way}: --from and --to are sqlite and etcd3`)
  if (settings.etcdServers.length === 0)
    throw new CannotStart('migrate needs --etcd-servers besides --data-dir')
  const progress = progressLine('migrate')
  const warn = (text: string) => void process.stderr.write(`${text}\n`)
  const etcd = await openStorage({ ...settings, storageBackend: 'etcd3' }, systemClock, warn)
  try {
    const copy = way === 'sqlite to etcd3' ? toEtcd : toSqlite
    const done = await copy(settings, etcd, progress.update)
    progress.end()
    process.stdout.write(`${done}\n`)
  } finally {
    await etcd.close()
  }
}

async function toEtcd(settings: Settings, etcd: Storage, progress: Progress): Promise<string> {
  const file = databasePath(settings)
  if (!existsSync(file)) throw new CannotStart(`there is no database ${file} to migrate`)
  const sqlite = await openSqliteStorage({ directory: settings.dataDir })
  try {
    const count = await copyToStore(sqlite, etcd, settings, progress)
    return (
      `migrated ${count} objects from ${settings.dataDir} to etcd; ` +
      'revisions begin anew: clients list again. ' +
      `Start with --etcd-servers=${settings.etcdServers.join(',')} and the same --data-dir`
    )
  } finally {
    await sqlite.close()
  }
}

async function toSqlite(settings: Settings, etcd: Storage, progress: Progress): Promise<string> {
  const file = databasePath(settings)
  if (existsSync(file))
    throw new CannotStart(`${file} exists: move it away, or name another --data-dir`)
  const running = await runningServers(etcd, settings)
  if (running.length > 0)
    throw new CannotStart(
      `servers run on this etcd (${running.join(', ')}): stop them first; ` +
        `a server that was killed counts as running for ${memberLivesSeconds} seconds`,
    )
  ensurePrivateDirectory(settings.dataDir)
  const lock = lockDirectory(settings.dataDir)
  try {
    const revision = await copyToDatabase(etcd, settings, file, systemClock.now(), progress)
    const keys = existsSync(authorityPath(settings))
      ? ''
      : `. Copy the pki directory of a server to ${certificateDirectory(settings)}: without it new keys are made, and no credential stays valid`
    return `migrated etcd at revision ${revision} to ${settings.dataDir}. Start with the same --data-dir and without --etcd-servers${keys}`
  } finally {
    lock.release()
  }
}

/** Binnacle servers by their records; a kube-apiserver, which has none, by its lease. */
async function runningServers(etcd: Storage, settings: Settings): Promise<string[]> {
  const members = [...(await liveMembers(etcd, settings)).values()]
  if (members.length > 0)
    return members.map(({ url, host }) => (host === undefined ? url : `${url} on ${host}`))
  const leases = `${settings.etcdPrefix}/masterleases/`
  const { items } = (await etcd.list(prefixRange(leases))).value
  return items.map(({ key }) => key.slice(leases.length))
}
