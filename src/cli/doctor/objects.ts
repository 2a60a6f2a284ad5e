/**
 * Checks the objects of a store. It finds clients of APIs that a later release removes, values that
 * this release cannot decode, and signs of a clock that was set back. managedFields show the
 * version in which each client wrote.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { groupOf, versionOf } from '#api/api-version.ts'
import type { Facts } from '#kinds/facts.ts'
import { releases } from '#settings/flag-table.ts'
import { releaseNumber } from '#settings/flags.ts'
import { storedBatches } from '#server/copy-store.ts'
import type { OfflineStore } from '#server/offline-store.ts'
import { requireOpened } from '#storage/storage.ts'
import type { Finding } from './finding.ts'

/** The clocks of servers on one etcd may differ by this much. */
const clockToleranceMs = 60_000
const shownMax = 20

/** Field managers of the server itself, which writes in the version of its release. */
const ownManagers = /^(kube-apiserver|api-priority-and-fairness-config-(producer|consumer)-v1)$/

interface Use {
  count: number
  /** The first object, as an example. */
  readonly key: string
  readonly managers: Set<string>
}

export async function checkObjects(
  { storage, facts, release, parse }: OfflineStore,
  root: string,
  nowMs: number,
): Promise<Finding[]> {
  const revision = await storage.currentRevision()
  const uses = new Map<string, Use>()
  let objects = 0
  let unreadable = 0
  let newestMs = 0
  for await (const batch of storedBatches(storage, { etcdPrefix: root }, revision))
    for (const { key, bytes } of batch) {
      const object = readable(bytes, parse)
      if (object === undefined) {
        unreadable++
        continue
      }
      objects++
      newestMs = Math.max(newestMs, Date.parse(object.metadata?.creationTimestamp ?? '') || 0)
      collect(uses, key, object)
    }
  const findings: Finding[] = [
    { level: 'ok', area: 'store', text: `${objects} objects at revision ${revision}` },
  ]
  if (unreadable > 0)
    findings.push({
      level: 'error',
      area: 'store',
      text: `${unreadable} values cannot be read: binnacle verify lists them`,
    })
  return [...findings, ...clockFindings(newestMs, nowMs), ...deprecated(uses, facts, release)]
}

function readable(bytes: Buffer, parse: OfflineStore['parse']): KubeObject | undefined {
  try {
    requireOpened(bytes)
    return parse(bytes)
  } catch {
    return undefined
  }
}

/** `extensions/v1beta1 Ingress`, for each manager. */
function collect(uses: Map<string, Use>, key: string, object: KubeObject & Loose): void {
  const add = (apiVersion: string, manager: string) => {
    const name = `${apiVersion} ${object.kind}`
    const use = uses.get(name) ?? { count: 0, key, managers: new Set<string>() }
    use.count++
    use.managers.add(manager)
    uses.set(name, use)
  }
  for (const { apiVersion, manager } of (object.metadata?.managedFields ?? []) as Loose[])
    if (typeof apiVersion === 'string' && !ownManagers.test(manager)) add(apiVersion, manager)
}

function clockFindings(newestMs: number, nowMs: number): Finding[] {
  if (newestMs <= nowMs + clockToleranceMs) return []
  const text = `an object was created at ${new Date(newestMs).toISOString()}, which is in the future: set the clock of this machine, and run a time service`
  return [{ level: 'warn', area: 'clock', text }]
}

/** The first release after the emulated one that does not serve a version; undefined if all do. */
function removedIn(facts: Facts, release: number, apiVersion: string, kind: string) {
  const [group, version] = [groupOf(apiVersion), versionOf(apiVersion)]
  const isServed = (minor: number) =>
    facts
      .resourcesOf(minor)
      .some((fact) => fact.group === group && fact.version === version && fact.kind === kind)
  const known = releases.map(releaseNumber)
  // Custom kinds do not depend on the release.
  if (!known.some(isServed)) return undefined
  return known.find((minor) => minor >= release && !isServed(minor))
}

function deprecated(uses: ReadonlyMap<string, Use>, facts: Facts, release: number): Finding[] {
  const findings: Finding[] = []
  for (const [name, { count, key, managers }] of uses) {
    const [apiVersion = '', kind = ''] = name.split(' ')
    const minor = removedIn(facts, release, apiVersion, kind)
    if (minor === undefined || findings.length === shownMax) continue
    const who = [...managers].slice(0, 3).join(', ')
    findings.push({
      level: 'warn',
      area: 'store',
      text: `${name} is not served as 1.${minor}; ${count} sets of fields of ${who} use it (first: ${key}): change these clients before the upgrade`,
    })
  }
  return findings
}
