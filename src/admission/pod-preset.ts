/**
 * The PodPreset plugin adds environment variables, volumes and mounts to new pods with matching
 * labels. If a preset conflicts with the pod or another preset, the pod stays unchanged.
 */
import { matchesLabels, selectorOf } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import type { AdmissionPlugin } from './admission.ts'
import { isNewPod } from './match.ts'

const mirror = 'kubernetes.io/config.mirror'
const optOut = 'podpreset.admission.kubernetes.io/exclude'
const mark = 'podpreset.admission.kubernetes.io/podpreset-'

type Item = Loose
type Key = (item: Item) => string

const byName: Key = ({ name }) => name ?? ''
const byPath: Key = ({ mountPath }) => mountPath ?? ''
const bySource: Key = ({ prefix = '', configMapRef, secretRef }) =>
  JSON.stringify([prefix, configMapRef?.name ?? '', secretRef?.name ?? ''])

/** The merged items. Undefined if two items with the same key differ. */
function merged(there: readonly Item[], coming: readonly Item[], keys: Key[]): Item[] | undefined {
  const known = keys.map((key) => new Map(there.map((item) => [key(item), item])))
  const out = [...there]
  for (const item of coming) {
    for (const [i, key] of keys.entries()) {
      const map = known[i] as Map<string, Item>
      const found = map.get(key(item))
      if (found !== undefined && !semanticEqual(found, item)) return undefined
      if (found !== undefined) continue
      map.set(key(item), item)
      if (i === 0) out.push(structuredClone(item))
    }
  }
  return out
}

const listOf = (presets: readonly KubeObject[], field: string): Item[] =>
  presets.flatMap(({ spec }) => (spec?.[field] ?? []) as Item[])

function setList(holder: Loose, field: string, items: Item[]): void {
  if (items.length > 0) holder[field] = items
}

/** Applies presets to a pod. Returns false without any change if they conflict. */
function applyPresets(pod: KubeObject, presets: readonly KubeObject[]): boolean {
  const { spec } = pod
  const volumes = merged(spec.volumes ?? [], listOf(presets, 'volumes'), [byName])
  const containers: Loose[] = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  const changes = containers.map(({ env = [], envFrom = [], volumeMounts = [] }) => ({
    env: merged(env, listOf(presets, 'env'), [byName]),
    volumeMounts: merged(volumeMounts, listOf(presets, 'volumeMounts'), [byName, byPath]),
    // Conflicting envFrom sources are omitted; they do not prevent the other changes.
    envFrom: merged(envFrom, listOf(presets, 'envFrom'), [bySource]) ?? [],
  }))
  const isSafe = ({ env, volumeMounts }: (typeof changes)[number]) =>
    env !== undefined && volumeMounts !== undefined
  if (volumes === undefined || !changes.every(isSafe)) return false
  setList(spec, 'volumes', volumes)
  for (const [i, container] of containers.entries()) {
    const { env = [], volumeMounts = [], envFrom } = changes[i] as (typeof changes)[number]
    setList(container, 'env', env)
    setList(container, 'volumeMounts', volumeMounts)
    setList(container, 'envFrom', envFrom)
  }
  return true
}

export const podPreset: AdmissionPlugin = {
  name: 'PodPreset',
  async mutate(request, reader) {
    if (!isNewPod(request)) return
    const pod = request.object as KubeObject
    const { annotations = {}, labels = {} } = pod.metadata
    if (Object.hasOwn(annotations, mirror) || annotations[optOut] === 'true') return
    const all = await reader.list('settings.k8s.io', 'podpresets', request.namespace)
    const presets = all.filter(({ spec }) =>
      matchesLabels(selectorOf(spec?.selector ?? {}), labels),
    )
    if (presets.length === 0 || !applyPresets(pod, presets)) return
    const marks = presets.map(({ metadata }) => [
      `${mark}${metadata.name}`,
      metadata.resourceVersion ?? '',
    ])
    pod.metadata.annotations = { ...annotations, ...Object.fromEntries(marks) }
  },
}
