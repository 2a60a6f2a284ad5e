/**
 * Limits the number of Update entries: if there are more than ten, the oldest are merged into one
 * entry per version. Apply entries are never merged, because each applier needs its own last
 * configuration.
 */
import { union } from './field-set.ts'
import { identityOf, type Managed, type Owned } from './managed-fields.ts'

/** kube-apiserver's limit: every entry is read and written with its object. */
const updatersMax = 10

export function capUpdaters({ owned, times }: Managed): void {
  const updaters = [...owned].filter(([, { applied }]) => !applied).map(([identity]) => identity)
  if (updaters.length <= updatersMax) return
  const age = (identity: string) => Math.floor(Date.parse(times.get(identity) ?? '') / 1000) || 0
  updaters.sort((a, b) => age(a) - age(b) || (a < b ? -1 : 1))
  const firstOfVersion = new Map<string, string>()
  let left = updaters.length
  for (const identity of updaters) {
    if (left <= updatersMax) return
    const mine = owned.get(identity) as Owned
    const bucket = identityOf({
      manager: 'ancient-changes',
      operation: 'Update',
      apiVersion: mine.apiVersion,
      subresource: '',
    })
    const first = firstOfVersion.get(mine.apiVersion)
    if (first === undefined) {
      firstOfVersion.set(mine.apiVersion, identity)
      continue
    }
    if (!owned.has(bucket)) {
      owned.set(bucket, owned.get(first) as Owned)
      owned.delete(first)
    }
    const set = union(mine.set, (owned.get(bucket) as Owned).set)
    owned.set(bucket, { set, apiVersion: mine.apiVersion, applied: false })
    owned.delete(identity)
    left--
    times.set(bucket, times.get(identity))
  }
}
