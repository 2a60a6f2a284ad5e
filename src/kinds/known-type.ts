/**
 * Which types a body may say it is of, besides those that are stored: what every group version has,
 * and what has no group. Nothing is read by them here.
 */
import { groupOf, versionOf } from '#api/api-version.ts'
import type { Type } from '#schema/type.ts'

/** The types that a release has, of resources and of bodies that are none. */
export interface KnownTypes {
  /** Whether a group has such a version, served or not. */
  readonly isVersion: (apiVersion: string) => boolean
  /** The type of a kind that need not be a resource of its own: Scale, Eviction, TokenRequest. */
  readonly typeNamed: (apiVersion: string, kind: string) => Type | undefined
}

/** Options that every group version has, and what has no group. */
const inEveryVersion =
  'WatchEvent ListOptions GetOptions DeleteOptions CreateOptions UpdateOptions PatchOptions'.split(
    ' ',
  )
const withoutGroup = 'Status APIVersions APIGroup APIGroupList APIResourceList'.split(' ')

/** What the core has and serves nowhere, or only as options. */
const coreOnly =
  'List RangeAllocation SerializedReference PodStatusResult PodLogOptions PodExecOptions PodAttachOptions PodPortForwardOptions PodProxyOptions NodeProxyOptions ServiceProxyOptions'.split(
    ' ',
  )

/** Groups that are served by servers of their own, each of which knows no other. */
const apart = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io'])

/** Whether there is such a type where `at` is served. */
export function isKnownType(
  types: KnownTypes,
  at: string,
  apiVersion: string,
  kind: string,
): boolean {
  if (withoutGroup.includes(kind)) return true
  const ofMeta = inEveryVersion.includes(kind)
  if (apiVersion === 'v1' && ofMeta) return true
  const [here, there] = [groupOf(at), groupOf(apiVersion)]
  if (here !== there && (apart.has(here) || apart.has(there))) return false
  if (apiVersion === 'v1' && coreOnly.includes(kind)) return true
  if (!ofMeta) return types.typeNamed(apiVersion, kind) !== undefined
  return types.isVersion(apiVersion)
}

/** Go's name for the type: that of meta has one version, whatever version uses it. */
export function goTypeOf(apiVersion: string, kind: string): string {
  const ofMeta = inEveryVersion.includes(kind) || withoutGroup.includes(kind)
  return `${ofMeta ? 'v1' : versionOf(apiVersion)}.${kind}`
}

/** Go's name for what all versions of a kind are read into. */
export const internalName = (apiVersion: string, kind: string): string =>
  `${groupOf(apiVersion).split('.')[0] || 'core'}.${kind}`
