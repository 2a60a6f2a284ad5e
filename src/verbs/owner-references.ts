/** Removes duplicate owner references with a warning; before 1.20 duplicates are kept. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject, OwnerReference } from '#api/object-meta.ts'

const dropsDuplicateOwners = change('duplicate owner references are dropped with a warning', {
  since: 20,
})

export function dedupOwnerReferences(
  { release }: { readonly release: number },
  object: KubeObject,
  warnings: string[],
  afterAdmission: boolean,
) {
  const references = object.metadata.ownerReferences
  if (
    !releaseOf(release).has(dropsDuplicateOwners) ||
    references === undefined ||
    references.length < 2
  )
    return
  const seen = new Set<string>()
  const twice = new Set<string>()
  const kept = references.filter((reference) => {
    const identity = identityOf(reference)
    if (!seen.has(identity)) {
      seen.add(identity)
      return true
    }
    twice.add(reference.uid)
    return false
  })
  if (twice.size === 0) return
  object.metadata.ownerReferences = kept
  const found = afterAdmission ? ' after mutating admission happens' : ''
  warnings.push(
    `.metadata.ownerReferences contains duplicate entries${found}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...twice].join(', ')}`,
  )
}

function identityOf({
  apiVersion,
  kind,
  name,
  uid,
  controller,
  blockOwnerDeletion,
}: OwnerReference) {
  return JSON.stringify([
    apiVersion,
    kind,
    name,
    uid,
    controller ?? null,
    blockOwnerDeletion ?? null,
  ])
}
