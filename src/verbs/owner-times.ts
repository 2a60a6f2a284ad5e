/**
 * Keeps the times in metadata.managedFields if they are all that a write would change. So a
 * controller that applies the same configuration repeatedly writes nothing.
 */
import type { KubeObject, Loose, ManagedFieldsEntry } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { equalValues } from '#patch/json-map.ts'

const timesAloneAreNoChange = change(
  'a write that changes nothing but times of owners is no write',
  {
    since: 25,
  },
)

export function keepOwnerTimes(next: KubeObject, old: KubeObject, release: number): void {
  if (!releaseOf(release).has(timesAloneAreNoChange)) return
  const before = old.metadata.managedFields ?? []
  const after = next.metadata.managedFields ?? []
  if (before.length !== after.length || after.every(({ time }, i) => time === before[i].time))
    return
  // Most calls return here, because managedFields differ in more than their times.
  if (!after.every((entry, i) => isSameOwner(entry, before[i]))) return
  if (
    isSameBut(owners, next.metadata as Loose, old.metadata as Loose) &&
    isSameBut(meta, next, old)
  )
    next.metadata.managedFields = old.metadata.managedFields
}

const owners: ReadonlySet<string> = new Set(['managedFields', 'resourceVersion'])
const meta: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion'])

const isSameOwner = (a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean =>
  isSameBut(new Set(['time']), a as Loose, b as Loose)

/** Whether two maps are equal, ignoring the members in `leftOut`. */
export function isSameBut(leftOut: ReadonlySet<string>, a: Loose, b: Loose): boolean {
  let count = 0
  for (const name in a) {
    if (leftOut.has(name)) continue
    if (!Object.hasOwn(b, name) || !equalValues(a[name], b[name])) return false
    count++
  }
  for (const name in b) if (!leftOut.has(name)) count--
  return count === 0
}
