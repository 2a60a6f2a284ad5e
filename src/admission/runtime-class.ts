/**
 * The RuntimeClass plugin copies the overhead, node selector and tolerations of a pod's runtime
 * class to the pod.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { setKey } from '#schema/user-key.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { lookupProblem } from './lookup-problem.ts'
import { isNewPod } from './match.ts'
import { refusal } from './refusal.ts'
import { mergeTolerations } from './tolerations.ts'

const mismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

const looksClassUp = change('a new RuntimeClass can be used at once', { since: 19 })

export function runtimeClassPlugin(
  feature: (gate: string) => boolean,
  release: number,
): AdmissionPlugin {
  const overhead = feature('PodOverhead')
  const isAsked = releaseOf(release).has(looksClassUp)
  return {
    name: 'RuntimeClass',
    mutate(request, reader) {
      if (!isNewPod(request) || request.object?.spec.runtimeClassName === undefined) return
      return settle(request, reader, overhead, isAsked)
    },
    validate(request, reader) {
      if (!overhead || !isNewPod(request)) return
      const { spec } = request.object as KubeObject
      if (spec.runtimeClassName !== undefined) return checkOverhead(request, reader, isAsked)
      const stated = spec.overhead !== undefined || wasWrittenEmpty(spec, 'overhead')
      if (stated) throw refusal(request, withoutClass)
    },
  }
}

const withoutClass =
  'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'

async function classOf(
  request: AdmissionRequest,
  reader: ObjectReader,
  isAsked: boolean,
): Promise<KubeObject> {
  const name = request.object?.spec.runtimeClassName as string
  const found = await reader.get('node.k8s.io', 'runtimeclasses', '', name)
  if (found !== undefined) return found
  const problem = isAsked ? lookupProblem(name) : undefined
  if (problem !== undefined) throw new ApiError(500, '', problem)
  throw refusal(request, `pod rejected: RuntimeClass "${name}" not found`)
}

async function settle(
  request: AdmissionRequest,
  reader: ObjectReader,
  overhead: boolean,
  isAsked: boolean,
): Promise<void> {
  const found = await classOf(request, reader, isAsked)
  const { spec } = request.object as KubeObject
  if (overhead && found.overhead) {
    const fixed = found.overhead.podFixed
    if (spec.overhead !== undefined && !semanticEqual(spec.overhead, fixed))
      throw refusal(request, mismatch)
    if (fixed !== undefined) spec.overhead = { ...fixed }
  }
  if (!found.scheduling) return
  const { nodeSelector, tolerations } = found.scheduling
  for (const [key, value] of Object.entries((nodeSelector ?? {}) as Record<string, string>)) {
    const there = ownValue<string>(spec.nodeSelector, key)
    if (there !== undefined && there !== value) {
      throw refusal(
        request,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${there}`,
      )
    }
    spec.nodeSelector ??= {}
    setKey(spec.nodeSelector, key, value)
  }
  const merged = mergeTolerations(spec.tolerations, structuredClone(tolerations ?? []))
  if (merged.length > 0) spec.tolerations = merged
}

async function checkOverhead(
  request: AdmissionRequest,
  reader: ObjectReader,
  isAsked: boolean,
): Promise<void> {
  const found = await classOf(request, reader, isAsked)
  const { spec } = request.object as KubeObject
  if (found.overhead) {
    if (!semanticEqual(found.overhead.podFixed, spec.overhead)) throw refusal(request, mismatch)
  } else if (spec.overhead !== undefined) throw refusal(request, withoutClass)
}
