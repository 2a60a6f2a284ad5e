/**
 * Reads every object of a store and reports what a server could not use. It finds values that do
 * not decode, names that differ from their key, missing or repeated uids, and custom objects
 * without a definition. It changes nothing.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Resource } from '#kinds/kind.ts'
import { asUnreadable, requireOpened, type Stored } from '#storage/storage.ts'
import { type Progress, storedBatches } from './copy-store.ts'
import type { OfflineStore } from './offline-store.ts'

/** Problems beyond this number are counted, not listed. */
const problemsMax = 100

export interface StoreReport {
  readonly objects: number
  readonly revision: number
  readonly problems: readonly string[]
}

/** Keys below the prefix with the server's own state, which are not API objects. */
const ownState = /^\/(masterleases|ranges|minions-lease|health|peerserverleases)(\/|$)/

export async function verifyStore(
  { storage, catalog, parse }: OfflineStore,
  root: string,
  progress: Progress,
): Promise<StoreReport> {
  const revision = await storage.currentRevision()
  const byPrefix = new Map(
    [...catalog.resources()]
      .filter(({ storagePrefix }) => storagePrefix !== '')
      .map((resource) => [resource.storagePrefix, resource]),
  )
  const definitions = new Map<string, ReadonlySet<string>>()
  const custom: [key: string, object: KubeObject][] = []
  const uids = new Map<string, string>()
  const problems: string[] = []
  const report = (key: string, problem: string) => {
    if (problems.length < problemsMax) problems.push(`${key}: ${problem}`)
  }
  const total = (await storage.count({ start: `${root}/`, end: `${root}0` })).value
  let objects = 0
  for await (const batch of storedBatches(storage, { etcdPrefix: root }, revision))
    for (const stored of batch) {
      progress(++objects, total)
      if (ownState.test(stored.key.slice(root.length))) continue
      const object = decoded(stored, parse, report)
      if (object === undefined) continue
      const resource = resourceOf(stored.key, byPrefix)
      checkNames(stored.key, object, resource, report)
      checkUid(stored.key, object, uids, report)
      if (resource === undefined) custom.push([stored.key, object])
      else if (resource.plural === 'customresourcedefinitions')
        definitions.set(...definitionOf(object))
    }
  for (const [key, object] of custom) checkDefinition(key, object, root, definitions, report)
  return { objects, revision, problems }
}

type Report = (key: string, problem: string) => void

function decoded(
  { key, bytes }: Stored,
  parse: OfflineStore['parse'],
  report: Report,
): KubeObject | undefined {
  try {
    requireOpened(bytes)
    return parse(bytes)
  } catch (error) {
    report(key, `cannot be read: ${asUnreadable(error).message}`)
    return undefined
  }
}

/**
 * The resource of a key. A prefix has one or two segments: `/registry/pods`,
 * `/registry/services/specs`.
 */
function resourceOf(key: string, byPrefix: ReadonlyMap<string, Resource>): Resource | undefined {
  for (let at = key.indexOf('/', 1); at !== -1; at = key.indexOf('/', at + 1)) {
    const found = byPrefix.get(key.slice(0, at))
    if (found !== undefined) return found
  }
  return undefined
}

/** Checks that the key ends in the namespace, if any, and the name of the object. */
function checkNames(
  key: string,
  { metadata }: KubeObject,
  resource: Resource | undefined,
  report: Report,
): void {
  const { name = '', namespace = '' } = metadata ?? {}
  const parts = key.split('/')
  if (parts.at(-1) !== name) report(key, `its metadata.name is ${JSON.stringify(name)}`)
  const isNamespaced = resource?.namespaced ?? namespace !== ''
  if (isNamespaced && parts.at(-2) !== namespace)
    report(key, `its metadata.namespace is ${JSON.stringify(namespace)}`)
}

function checkUid(
  key: string,
  { metadata }: KubeObject,
  uids: Map<string, string>,
  report: Report,
): void {
  const uid = metadata?.uid
  if (uid === undefined || uid === '') {
    report(key, 'it has no metadata.uid')
    return
  }
  const other = uids.get(uid)
  if (other !== undefined) report(key, `has the uid of ${other}`)
  else uids.set(uid, key)
}

/** Returns `example.com/widgets` and its versions. */
function definitionOf({ spec }: KubeObject & Loose): [string, ReadonlySet<string>] {
  const { group, names, versions, version } = spec ?? {}
  const listed = ((versions ?? []) as Loose[]).map(({ name }) => name as string)
  return [
    `${group}/${names?.plural}`,
    new Set(version === undefined ? listed : [...listed, version]),
  ]
}

function checkDefinition(
  key: string,
  { apiVersion }: KubeObject,
  root: string,
  definitions: ReadonlyMap<string, ReadonlySet<string>>,
  report: Report,
): void {
  const [group = '', plural = ''] = key.slice(root.length + 1).split('/')
  // Groups of definitions contain a dot, so this is a built-in kind of another release.
  if (!group.includes('.')) return
  const versions = definitions.get(`${group}/${plural}`)
  if (versions === undefined) {
    report(key, `no kind of this release and no definition is named ${plural}.${group}`)
    return
  }
  const [stored, version] = String(apiVersion).split('/')
  if (stored !== group || !versions.has(version ?? ''))
    report(key, `its apiVersion ${apiVersion} is not in the definition ${plural}.${group}`)
}
