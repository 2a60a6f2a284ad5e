/** Deprecated node labels. kube-apiserver warns clients that use them in selectors. */
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'

const labels = [
  ['beta.kubernetes.io/arch', 'v1.14', 'kubernetes.io/arch'],
  ['beta.kubernetes.io/os', 'v1.14', 'kubernetes.io/os'],
  ['failure-domain.beta.kubernetes.io/region', 'v1.17', 'topology.kubernetes.io/region'],
  ['failure-domain.beta.kubernetes.io/zone', 'v1.17', 'topology.kubernetes.io/zone'],
  ['beta.kubernetes.io/instance-type', 'v1.17', 'node.kubernetes.io/instance-type'],
] as const

/** The newer name of each. */
export const newerNodeLabels: ReadonlyMap<string, string> = new Map(
  labels.map(([older, , newer]) => [older, newer]),
)

/** The warning about each. */
export const deprecatedNodeLabels: ReadonlyMap<string, string> = new Map(
  labels.map(([older, since, newer]) => [
    older,
    `deprecated since ${since}; use "${newer}" instead`,
  ]),
)

const warnsOfMore = change('warnings about the labels created-by, preferAvoidPods and master', {
  since: 31,
})

const more: ReadonlyMap<string, string> = new Map([
  ...deprecatedNodeLabels,
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  [
    'scheduler.alpha.kubernetes.io/preferAvoidPods',
    'deprecated since v1.22; use Taints and Tolerations instead',
  ],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
])

/** The deprecated labels that select the topology of volumes. */
export const deprecatedTopologyLabels = (release: number): ReadonlyMap<string, string> =>
  releaseOf(release).has(warnsOfMore) ? more : deprecatedNodeLabels

/** Warnings about the expressions of one term of a node selector. */
export const nodeSelectorTermWarnings = (term: Loose, path: FieldPath): string[] =>
  ((term.matchExpressions ?? []) as Loose[]).flatMap(({ key = '' }, i) => {
    const message = deprecatedNodeLabels.get(key)
    if (message === undefined) return []
    return [`${path.child('matchExpressions').index(i).child('key')}: ${key} is ${message}`]
  })
