/** The status conditions of a terminating namespace, from the results of deleting its contents. */
import type { Loose } from '#api/object-meta.ts'
import type { ResourceRef } from '#client/client.ts'

export interface Findings {
  /** Failures of discovery. */
  readonly discoveryErrors: string[]
  /** Failures while deleting, one text per resource. */
  readonly contentErrors: string[]
  /** How many objects remain, by resource. */
  readonly remaining: Map<ResourceRef, number>
  /** How many objects wait for a finalizer. */
  readonly finalizers: Map<string, number>
}

type Said = { reason: string; message: string }

/** Type, then the reason and message while all is well. */
const rows: [
  type: string,
  reason: string,
  message: string,
  trouble: (f: Findings) => Said | undefined,
][] = [
  [
    'NamespaceDeletionDiscoveryFailure',
    'ResourcesDiscovered',
    'All resources successfully discovered',
    ({ discoveryErrors }) =>
      discoveryErrors.length === 0
        ? undefined
        : { reason: 'DiscoveryFailed', message: discoveryErrors.join(', ') },
  ],
  [
    'NamespaceDeletionGroupVersionParsingFailure',
    'ParsedGroupVersions',
    'All legacy kube types successfully parsed',
    () => undefined,
  ],
  [
    'NamespaceDeletionContentFailure',
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
    ({ contentErrors: errors }) =>
      errors.length === 0
        ? undefined
        : {
            reason: 'ContentDeletionFailed',
            message: `Failed to delete all resource types, ${errors.length} remaining: ${errors.toSorted().join(', ')}`,
          },
  ],
  [
    'NamespaceContentRemaining',
    'ContentRemoved',
    'All content successfully removed',
    ({ remaining }) =>
      said(
        'SomeResourcesRemain',
        'Some resources are remaining: ',
        [...remaining].map(
          ([{ plural, group }, count]) => `${plural}.${group} has ${count} resource instances`,
        ),
      ),
  ],
  [
    'NamespaceFinalizersRemaining',
    'ContentHasNoFinalizers',
    'All content-preserving finalizers finished',
    ({ finalizers }) =>
      said(
        'SomeFinalizersRemain',
        'Some content in the namespace has finalizers remaining: ',
        [...finalizers].map(([name, count]) => `${name} in ${count} resource instances`),
      ),
  ],
]

function said(reason: string, intro: string, parts: string[]): Said | undefined {
  return parts.length === 0 ? undefined : { reason, message: intro + parts.sort().join(', ') }
}

/** The conditions after a round. Undefined if they are unchanged. */
export function nextConditions(
  before: readonly Loose[],
  findings: Findings,
  now: string,
): Loose[] | undefined {
  const next = before.map((condition) => ({ ...condition }))
  let changed = false
  for (const [type, reason, message, trouble] of rows) {
    const found = trouble(findings)
    const wanted = { status: found ? 'True' : 'False', ...(found ?? { reason, message }) }
    const old = next.find((condition) => condition.type === type)
    if (old === undefined) {
      next.push({
        type,
        status: wanted.status,
        lastTransitionTime: now,
        reason: wanted.reason,
        message: wanted.message,
      })
    } else if (
      old.status === wanted.status &&
      old.reason === wanted.reason &&
      old.message === wanted.message
    ) {
      continue
    } else {
      if (old.status !== wanted.status) old.lastTransitionTime = now
      Object.assign(old, wanted)
    }
    changed = true
  }
  return changed ? next : undefined
}
