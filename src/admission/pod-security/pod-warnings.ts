/**
 * Warns about existing pods that violate the new level of their namespace. The time and the number
 * of checked pods are limited, so one pod of each controller comes first.
 */
import { byCodePoint, goQuote } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import type { Exemptions } from './configuration.ts'
import { type FindProblems, reasonsOf } from './pod-checks.ts'
import { type LevelVersion, policyText } from './policy.ts'

/** The limits of kube-apiserver for one request. */
const podsCheckedMax = 3000
const checkingMsMax = 1000

const warnsOncePerProblem = change('PodSecurity warns once for pods with the same problems', {
  since: 23,
})

export interface PodWarningsOptions {
  readonly release: Release
  readonly findProblems: FindProblems
  readonly monotonicMs: () => number
  readonly exemptions: Exemptions
}

export function podWarnings({
  release,
  findProblems,
  monotonicMs,
  exemptions,
}: PodWarningsOptions) {
  const isExempt = ({ spec }: KubeObject) =>
    exemptions.runtimeClasses.includes(spec.runtimeClassName)

  /** The names of the pods with each violation, and the number of checked pods. */
  function check(pods: readonly KubeObject[], wanted: LevelVersion) {
    const names = new Map<string, string[]>()
    const deadline = monotonicMs() + checkingMsMax
    let checked = 0
    for (const pod of pods.slice(0, podsCheckedMax)) {
      checked++
      const found = findProblems(wanted, pod.metadata, pod.spec)
      if (found.length > 0) {
        const reasons = reasonsOf(found)
        const known = names.get(reasons)
        if (known === undefined) names.set(reasons, [pod.metadata.name ?? ''])
        else known.push(pod.metadata.name ?? '')
      }
      if (monotonicMs() > deadline) break
    }
    return { names, checked }
  }

  function warnOnce(namespace: string, pods: readonly KubeObject[], wanted: LevelVersion) {
    const ordered = onePerControllerFirst(pods.filter((pod) => !isExempt(pod)))
    const { names, checked } = check(ordered, wanted)
    const lines = [...names].map(([reasons, violating]) => `${podsText(violating)}: ${reasons}`)
    return [
      ...(checked < ordered.length
        ? [
            `new PodSecurity enforce level only checked against the first ${checked} of ${ordered.length} existing pods`,
          ]
        : []),
      ...(names.size > 0
        ? [
            `existing pods in namespace ${goQuote(namespace)} violate the new PodSecurity enforce level ${goQuote(policyText(wanted))}`,
          ]
        : []),
      ...lines.sort(byCodePoint),
    ]
  }

  /** Before 1.23 each pod has its own warning. */
  function warnOfEach(_: string, pods: readonly KubeObject[], wanted: LevelVersion): string[] {
    const warnings: string[] = []
    if (pods.length > podsCheckedMax)
      warnings.push(
        `Large namespace: only checking the first ${podsCheckedMax} of ${pods.length} pods`,
      )
    const deadline = monotonicMs() + checkingMsMax
    for (const [i, pod] of pods.slice(0, podsCheckedMax).entries()) {
      if (isExempt(pod)) continue
      const found = findProblems(wanted, pod.metadata, pod.spec)
      if (found.length > 0) warnings.push(`${pod.metadata.name}: ${reasonsOf(found)}`)
      if (monotonicMs() > deadline) {
        warnings.push(`Timeout reached after checking ${i + 1} pods`)
        break
      }
    }
    return warnings
  }

  return release.has(warnsOncePerProblem) ? warnOnce : warnOfEach
}

/** "a", "a (and 1 other pod)" or "a (and 2 other pods)"; `a` is the first name in sort order. */
function podsText(names: string[]): string {
  const [first = ''] = names.sort(byCodePoint)
  const others = names.length - 1
  if (others === 0) return first
  return `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'})`
}

function onePerControllerFirst(pods: readonly KubeObject[]): KubeObject[] {
  const seen = new Set<string>()
  const later: KubeObject[] = []
  const first = pods.filter((pod) => {
    const uid = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid
    if (uid === undefined || !seen.has(uid)) {
      if (uid !== undefined) seen.add(uid)
      return true
    }
    later.push(pod)
    return false
  })
  return [...first, ...later]
}
