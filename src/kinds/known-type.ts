/**
 * The types that a request body may name besides stored resources: types of every group version,
 * and types without a group. This module does not decode them.
 */
import { groupOf, versionOf } from '#api/api-version.ts'
import type { Type } from '#schema/type.ts'

/** The types of a release, including types that are not resources. */
export interface KnownTypes {
  /** Whether the group has this version, served or not. */
  readonly isVersion: (apiVersion: string) => boolean
  /** The type of a kind that may not be a resource: Scale, Eviction, TokenRequest. */
  readonly typeNamed: (apiVersion: string, kind: string) => Type | undefined
}

/** Option types that every group version has, and types without a group. */
const inEveryVersion =
  'WatchEvent ListOptions GetOptions DeleteOptions CreateOptions UpdateOptions PatchOptions'.split(
    ' ',
  )
const withoutGroup = 'Status APIVersions APIGroup APIGroupList APIResourceList'.split(' ')

/** Types of the core group that it serves only as options or not at all. */
const coreOnly =
  'List RangeAllocation SerializedReference PodStatusResult PodLogOptions PodExecOptions PodAttachOptions PodPortForwardOptions PodProxyOptions NodeProxyOptions ServiceProxyOptions'.split(
    ' ',
  )

/**
 * Groups that kube-apiserver serves with separate servers. Each server knows only its own types.
 */
const apart = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io'])

/** Whether the server of group version `at` knows the type. */
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

/** Go's name of the type. Types of meta are always v1. */
export function goTypeOf(apiVersion: string, kind: string): string {
  const ofMeta = inEveryVersion.includes(kind) || withoutGroup.includes(kind)
  return `${ofMeta ? 'v1' : versionOf(apiVersion)}.${kind}`
}

/** Go's name of the internal type of a kind. */
export const internalName = (apiVersion: string, kind: string): string =>
  `${groupOf(apiVersion).split('.')[0] || 'core'}.${kind}`
