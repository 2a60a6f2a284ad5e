/**
 * Opens a store without a server, for commands that read all of it: verify, doctor, backup. A
 * database is opened read-only, so a server may run. Values are decrypted if the flags specify the
 * keys.
 */
import { join } from 'node:path'
import { systemClock, type TimerClock } from '#base/clock.ts'
import { builtInResources } from '#kinds/built-in.ts'
import { Catalog } from '#kinds/catalog.ts'
import { type Facts, loadFacts } from '#kinds/facts.ts'
import { featureGates } from '#kinds/feature-gates.ts'
import { storedParser } from '#kinds/stored-form.ts'
import { releaseNumber, type Settings } from '#settings/flags.ts'
import { databaseFileName, inspectDatabase } from '#storage/sqlite/data-directory.ts'
import { ReadOnlySqlite } from '#storage/sqlite/read-only.ts'
import { type Storage, StorageUnavailable } from '#storage/storage.ts'
import type { ParseStored } from '#watchcache/entry.ts'
import { orCannotStart } from './cannot-start.ts'
import { readFactsFile } from './facts-reader.ts'
import { sealing } from './sealing.ts'
import { openStorage } from './storage.ts'

export interface OfflineStore {
  /** Reads values as they are stored. */
  readonly raw: Storage
  /** Reads decrypted values. */
  readonly storage: Storage
  readonly catalog: Catalog
  readonly facts: Facts
  readonly release: number
  readonly parse: ParseStored
}

export const databasePath = ({ dataDir }: Pick<Settings, 'dataDir'>): string =>
  join(dataDir, databaseFileName)

/** Opens the store that the flags select, for reading. The caller closes it. */
export async function openForReading(
  settings: Settings,
  warn: (message: string) => void,
  clock: TimerClock = systemClock,
): Promise<Storage> {
  if (settings.storageBackend !== 'sqlite') return openStorage(settings, clock, warn)
  const file = databasePath(settings)
  if (inspectDatabase(file) === 'nothing')
    throw new StorageUnavailable(`there is no database ${file}; --data-dir names its directory`)
  return new ReadOnlySqlite(file)
}

export async function openOfflineStore(
  settings: Settings,
  warn: (message: string) => void,
): Promise<OfflineStore> {
  const release = releaseNumber(settings.emulatedVersion)
  const facts = loadFacts(readFactsFile)
  const table = JSON.parse(readFactsFile('features.json'))
  const { enabled: feature } = orCannotStart(featureGates(table, release, settings.featureGates))
  const catalog = new Catalog([])
  const root = settings.etcdPrefix
  // The store also contains objects of disabled groups.
  const options = { release, feature, root, serves: () => true, serviceFamilies: ['IPv4' as const] }
  for (const resource of builtInResources(facts, options)) catalog.add(resource)
  const raw = await openForReading(settings, warn)
  const file = settings.encryptionProviderConfig
  const storage = file === undefined ? raw : sealing(file, catalog, root)(raw)
  return { raw, storage, catalog, facts, release, parse: storedParser(catalog) }
}
