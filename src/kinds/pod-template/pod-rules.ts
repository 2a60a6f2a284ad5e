/**
 * Options of pod validation besides the pod: feature gates, and which rules the old object already
 * broke. An update may keep such a violation.
 */
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import type { Context } from '#kinds/kind.ts'
import { type OncePod, oncePodIn } from '#kinds/core/persistent-volume-claim/access-modes.ts'
import { type ClaimRules, claimRules } from '#kinds/core/persistent-volume-claim/claim-spec.ts'
import { containersOf } from './containers-of.ts'
import { hasIndivisibleHugePages } from './huge-pages.ts'

const wholePages = change('pods request whole huge pages', { since: 21 })

export interface PodRules {
  readonly allowDownwardHugePages: boolean
  readonly allowAnyDeletionCost: boolean
  readonly allowIndivisibleHugePages: boolean
  readonly allowManyPageSizes: boolean
  readonly allowHostProcess: boolean
  readonly allowExpandedDns: boolean
  readonly allowPrivileged: boolean
  readonly once: OncePod
  readonly claims: ClaimRules
  readonly ephemeralContainers: boolean
  /** Minor number of the emulated release. */
  readonly release: number
  /** Whether the emulated release has a change. */
  readonly has: Release['has']
  readonly feature: (gate: string) => boolean
  /** The pod spec before the update. */
  readonly old: Loose | undefined
  /** True for pods, false for pod templates. Pods have additional rules. */
  readonly isPod: boolean
}

export interface Template {
  readonly spec: Loose
  readonly metadata: ObjectMeta
}

/** Longest search list of a pod's DNS settings, before and with ExpandedDNSConfig. */
export const searchLimits = {
  legacy: { paths: 6, characters: 256 },
  expanded: { paths: 32, characters: 2048 },
}

/** The options for a pod or pod template. `old` is the object before the update, if any. */
export function podRules(
  context: Context,
  next?: Partial<Template>,
  old?: Partial<Template>,
  isPod = false,
): PodRules {
  const spec = next?.spec
  const oldSpec = old?.spec
  const deletionCost = context.feature('PodDeletionCost')
  return {
    allowDownwardHugePages:
      context.feature('DownwardAPIHugePages') ||
      (oldSpec !== undefined && usesDownwardHugePages(oldSpec)),
    allowAnyDeletionCost:
      !deletionCost || (old?.metadata !== undefined && !isDeletionCost(old.metadata.annotations)),
    allowIndivisibleHugePages:
      !releaseOf(context.release).has(wholePages) ||
      (oldSpec !== undefined && hasIndivisibleHugePages(oldSpec)),
    allowManyPageSizes: context.feature('HugePageStorageMediumSize'),
    allowHostProcess:
      context.feature('WindowsHostProcessContainers') ||
      (oldSpec !== undefined && setsHostProcess(oldSpec)),
    allowExpandedDns: context.feature('ExpandedDNSConfig') || keepsLongSearchList(spec, oldSpec),
    allowPrivileged: context.allowPrivileged !== false,
    once: oncePodIn(context),
    claims: claimRules(context),
    ephemeralContainers: context.feature('EphemeralContainers'),
    release: context.release,
    has: releaseOf(context.release).has,
    feature: context.feature,
    old: oldSpec,
    isPod,
  }
}

const deletionCostKey = 'controller.kubernetes.io/pod-deletion-cost'

/**
 * Whether the pod deletion cost annotation, if present, is a 32-bit integer without plus sign and
 * leading zeros.
 */
export function isDeletionCost(annotations: Readonly<Record<string, string>> | undefined): boolean {
  if (annotations === undefined || !Object.hasOwn(annotations, deletionCostKey)) return true
  const text = annotations[deletionCostKey] as string
  if (!/^(?:0|-[0-9]+|[1-9][0-9]*)$/.test(text)) return false
  const value = Number(text)
  return value >= -2147483648 && value <= 2147483647
}

const isHugePagesField = (reference: Loose | undefined): boolean =>
  /^(?:requests|limits)\.hugepages-/.test(reference?.resource ?? '')

function usesDownwardHugePages(spec: Loose): boolean {
  for (const volume of spec.volumes ?? []) {
    for (const item of volume.downwardAPI?.items ?? []) {
      if (isHugePagesField(item.resourceFieldRef)) return true
    }
  }
  return containersOf(spec).some((container) =>
    (container.env ?? []).some((env: Loose) => isHugePagesField(env.valueFrom?.resourceFieldRef)),
  )
}

function setsHostProcess(spec: Loose): boolean {
  const sets = (context: Loose | undefined) =>
    (context?.windowsOptions?.hostProcess ?? undefined) !== undefined
  return (
    sets(spec.securityContext) ||
    containersOf(spec).some((container) => sets(container.securityContext))
  )
}

function keepsLongSearchList(spec: Loose | undefined, old: Loose | undefined): boolean {
  if (!spec?.dnsConfig || !old?.dnsConfig) return false
  const before: string[] = old.dnsConfig.searches ?? []
  const after: string[] = spec.dnsConfig.searches ?? []
  const { paths, characters } = searchLimits.legacy
  if (before.length <= paths && Buffer.byteLength(before.join(' ')) <= characters) return false
  return before.length === after.length && before.every((search, i) => search === after[i])
}
