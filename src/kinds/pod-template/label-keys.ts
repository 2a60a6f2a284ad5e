/**
 * matchLabelKeys: for each key, kube-apiserver adds a requirement with the pod's own label value to
 * the selector.
 *
 *   labels app=a, matchLabelKeys: [app]
 *   →  labelSelector.matchExpressions: [{ key: app, operator: In, values: [a] }]
 */
import { type FieldError, forbidden, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { validateLabelName } from '#api/label-rules.ts'
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import type { PodRules } from './pod-rules.ts'

const noSelector = 'must not be specified when labelSelector is not set'

/** Keys of a term of affinity to pods. */
export function checkLabelKeys(term: Loose, path: FieldPath): FieldError[] {
  const match: string[] = term.matchLabelKeys ?? []
  const mismatch: string[] = term.mismatchLabelKeys ?? []
  const errors = [
    ...checkNames(match, term.labelSelector, path.child('matchLabelKeys')),
    ...checkNames(mismatch, term.labelSelector, path.child('mismatchLabelKeys')),
    ...checkRepeated(match, term.labelSelector, path),
  ]
  match.forEach((key, i) => {
    if (!mismatch.includes(key)) return
    const detail = 'exists in both matchLabelKeys and mismatchLabelKeys'
    errors.push(invalid(path.child('matchLabelKeys').index(i), key, detail))
  })
  return errors
}

function checkNames(keys: string[], selector: Loose | undefined, path: FieldPath): FieldError[] {
  if (keys.length === 0) return []
  if (!selector) return [forbidden(path, noSelector)]
  return keys.flatMap((key, i) => validateLabelName(key, path.index(i)))
}

/** The selector may name a key once, as kube-apiserver does when it adds the label of the pod. */
function checkRepeated(keys: string[], selector: Loose | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}))
  for (const { key = '' } of (selector?.matchExpressions ?? []) as Loose[]) {
    const i = keys.lastIndexOf(key)
    if (i !== -1 && seen.has(key)) {
      errors.push(invalid(path.index(i), key, inBoth))
    }
    seen.add(key)
  }
  return errors
}

const inBoth = 'exists in both matchLabelKeys and labelSelector'

/** Keys of a topology spread constraint, in releases that do not change the selector. */
function checkKeysApart(constraint: Loose, path: FieldPath): FieldError[] {
  const keys: string[] = constraint.matchLabelKeys ?? []
  if (keys.length === 0) return []
  const selector: Loose | undefined = constraint.labelSelector ?? undefined
  const used = new Set<string>([
    ...Object.keys(selector?.matchLabels ?? {}),
    ...((selector?.matchExpressions ?? []) as Loose[]).map(({ key }) => key ?? ''),
  ])
  const errors = selector ? [] : [forbidden(path, noSelector)]
  keys.forEach((key, i) => {
    errors.push(...validateLabelName(key, path.index(i)))
    if (used.has(key)) errors.push(invalid(path.index(i), key, inBoth))
  })
  return errors
}

const checkMerged = (constraint: Loose, path: FieldPath): FieldError[] =>
  checkLabelKeys({ ...constraint, mismatchLabelKeys: undefined }, path)

const mergesSpread = change('matchLabelKeys of topology spread constraints extend the selector', {
  since: 34,
})

const isMerging = ({ has, feature }: Pick<PodRules, 'has' | 'feature'>): boolean =>
  has(mergesSpread) &&
  feature('MatchLabelKeysInPodTopologySpread') &&
  feature('MatchLabelKeysInPodTopologySpreadSelectorMerge')

/** Stored objects may keep keys that were valid under the other rule. */
export function checkSpreadKeys(constraint: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const apart = () => checkKeysApart(constraint, path.child('matchLabelKeys'))
  if (!rules.feature('MatchLabelKeysInPodTopologySpread')) return apart()
  const before: Loose[] = rules.old?.topologySpreadConstraints ?? []
  const merging = isMerging(rules)
  const check = merging ? checkMerged : checkKeysApart
  const isOther =
    rules.has(mergesSpread) && before.some((one) => check(one, FieldPath.root).length > 0)
  return merging === isOther ? apart() : checkMerged(constraint, path)
}

/** Adds the requirements to the selectors of a new pod. */
export function mergeLabelKeys(
  pod: { metadata: ObjectMeta; spec: Loose },
  terms: Loose[],
  { has, feature }: { has: Release['has']; feature: (gate: string) => boolean },
): void {
  const labels = pod.metadata.labels ?? {}
  if (feature('MatchLabelKeysInPodAffinity')) {
    for (const term of terms) {
      extend(term, term.matchLabelKeys, 'In', labels)
      extend(term, term.mismatchLabelKeys, 'NotIn', labels)
    }
  }
  if (!isMerging({ has, feature })) return
  for (const constraint of (pod.spec.topologySpreadConstraints ?? []) as Loose[]) {
    extend(constraint, constraint.matchLabelKeys, 'In', labels)
  }
}

function extend(
  holder: Loose,
  keys: string[] | null | undefined,
  operator: string,
  labels: Readonly<Record<string, string>>,
): void {
  if (!holder.labelSelector) return
  const added = (keys ?? [])
    .filter((key) => Object.hasOwn(labels, key))
    .map((key) => ({ key, operator, values: [labels[key]] }))
  if (added.length === 0) return
  const before: Loose[] = holder.labelSelector.matchExpressions ?? []
  holder.labelSelector = { ...holder.labelSelector, matchExpressions: [...before, ...added] }
}
