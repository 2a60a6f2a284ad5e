/**
 * The parts that all other parts use: the release, its facts, the store, the kinds and the watch
 * cache.
 */
import { timestamp } from '#verbs/server.ts'
import { qualified } from '#api/status-error.ts'
import type { TimerClock } from '#base/clock.ts'
import type { Random } from '#base/random.ts'
import type { Loopback } from '#admission/webhook/address.ts'
import { loadLater } from '#base/load-later.ts'
import { builtInResources } from '#kinds/built-in.ts'
import { Catalog } from '#kinds/catalog.ts'
import { type Facts, loadFacts } from '#kinds/facts.ts'
import { type FeatureGates, featureGates } from '#kinds/feature-gates.ts'
import type { Resource } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { runtimeConfig } from '#kinds/runtime-config.ts'
import { storedParser } from '#kinds/stored-form.ts'
import type { Log } from '#observe/log.ts'
import { MeasuredStorage } from '#storage/measured.ts'
import type { Revision, Storage } from '#storage/storage.ts'
import { objectReader } from '#verbs/reader.ts'
import type { ParseStored } from '#watchcache/entry.ts'
import type { SharedEntries } from '#watchcache/shared-entries.ts'
import { WatchCache } from '#watchcache/watch-cache.ts'
import { localUrl } from './addresses.ts'
import { orCannotStart } from './cannot-start.ts'
import { type Certificates, ensureCertificates, makeLoopback } from './certificates.ts'
import { readFactsFile } from './facts-reader.ts'
import { releaseNumber, type Settings } from '#settings/flags.ts'
import { openStorage } from './storage.ts'
import type { LoadProgress } from './load-progress.ts'
import type { Surroundings } from './surroundings.ts'

const loadLoadProgress = loadLater<typeof import('./load-progress.ts')>(
  import.meta.url,
  './load-progress',
)
const loadClusterKeys = loadLater<typeof import('./cluster-keys.ts')>(
  import.meta.url,
  './cluster-keys',
)
const loadSealing = loadLater<typeof import('./sealing.ts')>(import.meta.url, './sealing')

/** How long changes are kept for watches that resume: five minutes. */
const historyMsMax = 300_000
/**
 * Minimum number of changes kept for each resource, regardless of the flag: about a minute of a
 * busy resource.
 */
const historyEventsMin = 10_000

/** The number of changes to keep for a resource. */
export function historyEventsMax({ defaultWatchCacheSize, watchCacheSizes }: Settings) {
  return ({ group, plural }: Resource): number =>
    Math.max(
      historyEventsMin,
      watchCacheSizes.get(qualified(plural, group)) ?? defaultWatchCacheSize,
    )
}

export interface Foundation {
  readonly settings: Settings
  readonly log: Log
  readonly clock: TimerClock
  readonly random: Random
  /** Minor number of the emulated release. */
  readonly release: number
  readonly feature: (gate: string) => boolean
  readonly facts: Facts
  readonly certificates: Certificates
  /** Private keys as PEM: all verify service account tokens, and the first signs them. */
  readonly tokenKeys: readonly string[]
  readonly loopback: Loopback
  readonly storage: MeasuredStorage
  readonly builtIn: readonly Resource[]
  readonly catalog: Catalog
  readonly cache: WatchCache
  readonly reader: ObjectReader
  readonly parseStored: ParseStored
  readonly report: (message: string, error: unknown) => void
}

/** Parts that a cluster receives from its creator. */
export interface SharedParts {
  /** The cluster's own store. The cluster closes it. */
  readonly storage?: Storage
  /** A fork takes these from the cluster that it was forked from. */
  readonly facts?: Facts
  readonly certificates?: Certificates
  /** The built-in kinds, compiled once. */
  readonly builtIn?: readonly Resource[]
  readonly feature?: (gate: string) => boolean
  readonly loopback?: Loopback
  readonly tokenKeys?: readonly string[]
  /** Entries of the stores that share their bytes. */
  readonly entries?: SharedEntries
  /** The newest revision of the writes that a restore of an older state discarded. */
  readonly discardedUpTo?: Revision
}

export async function openFoundation(
  settings: Settings,
  { log, clock, random }: Surroundings,
  shared?: SharedParts,
): Promise<Foundation> {
  const release = releaseNumber(settings.emulatedVersion)
  const facts = shared?.facts ?? loadFacts(readFactsFile)
  const feature = shared?.feature ?? enabledFeatures(settings, release, log)
  const warn = (message: string) => log.warn(message)
  const { clusterSecretFile } = settings
  if (clusterSecretFile !== undefined && shared?.certificates === undefined)
    await loadClusterKeys().shareKeys(settings, clusterSecretFile, clock, warn)
  const certificates = shared?.certificates ?? ensureCertificates(settings, clock)
  for (const warning of certificates.warnings) log.warn(warning)
  const catalog = new Catalog([])
  const root = settings.etcdPrefix
  const builtIn = shared?.builtIn ?? compiledKinds(settings, release, facts, feature, clock)
  for (const resource of builtIn) catalog.add(resource)
  const file = settings.encryptionProviderConfig
  const sealed = file === undefined ? undefined : loadSealing().sealing(file, catalog, root)
  const opened = shared?.storage ?? (await openStorage(settings, clock, warn))
  const storage = new MeasuredStorage(sealed?.(opened) ?? opened)
  const parseStored = storedParser(catalog)
  const readOnly = shared?.entries?.parser(parseStored) ?? parseStored
  const report = (message: string, error: unknown) => log.error(message, { error })
  const eventsMax = historyEventsMax(settings)
  const cache = new WatchCache(
    {
      storage,
      parse: readOnly,
      clock,
      shared: shared?.entries,
      root,
      limits: (resource) => ({ eventsMax: eventsMax(resource), ageMsMax: historyMsMax }),
      report,
      loading: longLoads(log),
    },
    await storage.currentRevision(),
    shared?.discardedUpTo,
  )
  cache.start()
  const reader = objectReader({ catalog, cache, storage, parseStored: readOnly })
  return {
    settings,
    log,
    clock,
    random,
    release,
    feature,
    facts,
    certificates,
    tokenKeys: shared?.tokenKeys ?? [certificates.serviceAccountKey.privatePem],
    loopback: shared?.loopback ?? makeLoopback(certificates.ca, localUrl(settings), clock.now()),
    storage,
    builtIn,
    catalog,
    cache,
    reader,
    parseStored,
    report,
  }
}

/** Most kinds fit into the first page, and nothing is loaded for them. */
function longLoads(log: Log): LoadProgress {
  let progress: LoadProgress | undefined
  return (resource, done, total) => {
    if (done < total) progress ??= loadLoadProgress().loadProgress(log)
    progress?.(resource, done, total)
  }
}

/** The feature gates with the operator's flags. */
export function gatesOf({ featureGates: given }: Settings, release: number): FeatureGates {
  return orCannotStart(featureGates(JSON.parse(readFactsFile('features.json')), release, given))
}

function enabledFeatures(settings: Settings, release: number, log: Log) {
  const gates = gatesOf(settings, release)
  for (const warning of gates.warnings) log.warn(warning)
  return gates.enabled
}

function compiledKinds(
  { runtimeConfig: wanted, serviceClusterIpRange, etcdPrefix: root }: Settings,
  release: number,
  facts: Facts,
  feature: (gate: string) => boolean,
  clock: TimerClock,
): readonly Resource[] {
  const registered = facts.knownGroupVersionsOf(release)
  const serves = orCannotStart(runtimeConfig(wanted, registered, facts.resourcesOf(release)))
  const serviceFamilies = serviceClusterIpRange.map((block) =>
    block.includes(':') ? 'IPv6' : 'IPv4',
  )
  const time = () => timestamp(clock)
  return builtInResources(facts, { release, feature, root, serves, serviceFamilies, time })
}
