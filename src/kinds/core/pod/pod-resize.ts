/** New resources for a running pod: amounts of processors and memory change, nothing else does. */
import { type FieldError, forbidden, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { compareQuantities, isZeroQuantity } from '#api/quantity.ts'
import { change } from '#api/releases/change.ts'
import { copyData } from '#base/copy-data.ts'
import { samePart } from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { keepObjectMetaForStatus } from '#kinds/all-kinds/strategy.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { Context } from '#kinds/kind.ts'
import { isSidecar } from '#kinds/pod-template/container-restart.ts'
import { isMirrorPod } from '#kinds/pod-template/pod-annotations.ts'
import { hasPodResources } from '#kinds/pod-template/pod-resources.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'
import { checkPod } from '#kinds/pod-template/pod-spec.ts'
import { qosClassOf } from './qos-class.ts'

const lists = ['containers', 'initContainers'] as const
const specPath = FieldPath.of('spec')
const initContainersCan = change('init containers can be resized', { since: 36 })
const podsCan = change('pods can be resized as a whole', { since: 35 })

const containersIn = (spec: Loose, list: string): Loose[] => spec[list] ?? []
const countsDiffer = (next: Loose, old: Loose): boolean =>
  lists.some((list) => containersIn(next, list).length !== containersIn(old, list).length)

/**
 * Takes the fields that a resize may change from the request, and all others from the stored pod.
 */
export function keepAllButResources(next: KubeObject, old: KubeObject, context: Context): void {
  if (countsDiffer(next.spec, old.spec)) return
  const { feature } = context
  const wanted: Loose = next.spec
  const spec = copyData(old.spec)
  if (feature('InPlacePodLevelResourcesVerticalScaling')) {
    if (wanted.resources) spec.resources = wanted.resources
    else delete spec.resources
  }
  if (feature('InPlacePodVerticalScalingMemoryBackedVolumes')) spec.volumes = wanted.volumes
  for (const list of lists) {
    const [before, after] = [containersIn(old.spec, list), containersIn(wanted, list)]
    if (after.length === 0) continue
    const isRenamed = after.some(({ name }, i) => name !== before[i]?.name)
    spec[list] = isRenamed
      ? after
      : before.map((container, i) => withResources(container, after[i] as Loose))
  }
  next.spec = spec
  next.status = copyData(old.status)
  keepObjectMetaForStatus(next, old)
}

function withResources(old: Loose, next: Loose): Loose {
  const container = copyData(old)
  for (const field of ['resources', 'resizePolicy']) {
    if (next[field] === undefined) delete container[field]
    else container[field] = next[field]
  }
  return container
}

export function checkPodResize(next: KubeObject, old: KubeObject, rules: PodRules): FieldError[] {
  const isWhole = hasPodResources(old.spec) || hasPodResources(next.spec)
  if (isWhole && !rules.has(podsCan)) {
    return [forbidden('[]', 'pods with pod-level resources cannot be resized')]
  }
  if (isMirrorPod(old)) return [forbidden('[]', 'static pods cannot be resized')]
  if (old.spec.os?.name === 'windows') return [forbidden('[]', 'windows pods cannot be resized')]
  const errors = [
    ...checkMetadataUpdate(next, old),
    ...checkMetadata(next, true, nameIsDnsSubdomain),
    ...checkPod(next, rules),
    ...checkPodAsWhole(next, old, rules),
  ]
  const kept: Loose = copyData(next.spec)
  if (isWhole) {
    if (!rules.feature('InPlacePodLevelResourcesVerticalScaling')) {
      return [...errors, forbidden('[]', podsCannot)]
    }
    errors.push(...checkPodResourcesChange(kept, next.spec, old.spec))
  }
  const order = checkOrder(next.spec, old.spec)
  if (order.length > 0) return [...errors, ...order]
  errors.push(...checkRemovals(next.spec, old.spec, rules))
  errors.push(...checkContainers(kept, old.spec), ...checkInitContainers(kept, old.spec, rules))
  errors.push(...checkVolumes(next.spec, old.spec, rules))
  kept.volumes = old.spec.volumes
  if (errors.length > 0 || samePart(kept, old.spec)) return errors
  return [forbidden(specPath, onlyComputeResources)]
}

const onlyComputeResources = 'only cpu and memory resources are mutable'

const podsCannot =
  'resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled'

function checkPodAsWhole(next: KubeObject, old: KubeObject, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const before: string = old.status?.qosClass || qosClassOf(old.spec, rules.feature)
  if (before !== qosClassOf(next.spec, rules.feature)) {
    const detail = 'Pod QOS Class may not change as a result of resizing'
    errors.push(invalid(specPath, next.status?.qosClass ?? '', detail))
  }
  const running = ((old.status?.containerStatuses ?? []) as Loose[]).find(
    ({ state }) => state?.running,
  )
  if (running !== undefined && !running.resources) {
    errors.push(forbidden(specPath, 'Pod running on node without support for resize'))
  }
  return errors
}

type Requirements = Loose | null | undefined

const isRemoved = (next: Requirements, old: Requirements, list: string): boolean =>
  Object.keys(old?.[list] ?? {}).some((name) => !Object.hasOwn(next?.[list] ?? {}, name))

const amountLists = ['requests', 'limits'] as const

function checkPodResourcesChange(kept: Loose, next: Loose, old: Loose): FieldError[] {
  const path = specPath.child('resources')
  if (old.resources && !next.resources) {
    return [forbidden(path, 'pod-level resources cannot be removed')]
  }
  const errors: FieldError[] = []
  for (const list of amountLists) {
    if (!old.resources || !isRemoved(next.resources, old.resources, list)) continue
    errors.push(forbidden(path.child(list), `pod-level resource ${list} cannot be removed`))
  }
  kept.resources = withOldAmounts(kept.resources, old.resources)
  if (!old.resources && isEmptyRequirements(kept.resources)) delete kept.resources
  if (!samePart(kept.resources, old.resources)) {
    errors.push(forbidden(specPath, `${onlyComputeResources} at pod-level`))
  }
  return errors
}

const isEmptyRequirements = (resources: Requirements): boolean =>
  ['requests', 'limits', 'claims'].every(
    (field) => Object.keys(resources?.[field] ?? {}).length === 0,
  )

/** The same requirements with the old amounts of processors and memory. */
function withOldAmounts(resources: Requirements, old: Requirements): Loose | undefined {
  if (!resources) return undefined
  const result: Loose = { ...resources }
  for (const list of amountLists) {
    const { cpu: _cpu, memory: _memory, ...others } = resources[list] ?? {}
    const before: Loose = old?.[list] ?? {}
    for (const name of ['cpu', 'memory'])
      if (before[name] !== undefined) others[name] = before[name]
    if (Object.keys(others).length > 0) result[list] = others
    else delete result[list]
  }
  return result
}

function checkOrder(next: Loose, old: Loose): FieldError[] {
  return lists.flatMap((list) => {
    const [before, after] = [containersIn(old, list), containersIn(next, list)]
    const path = specPath.child(list)
    if (before.length !== after.length) {
      return [forbidden(path, `${list} may not be added or removed on resize`)]
    }
    const detail = `${list} may not be renamed or reordered on resize`
    return before.flatMap(({ name }, i) =>
      after[i]?.name === name ? [] : [forbidden(path.index(i).child('name'), detail)],
    )
  })
}

function checkRemovals(next: Loose, old: Loose, rules: PodRules): FieldError[] {
  return ['initContainers', 'containers'].flatMap((list) =>
    containersIn(old, list).flatMap((container, i) => {
      const isFixed = list === 'initContainers' && !isSidecar(container) && !canResizeInit(rules)
      if (isFixed) return []
      const path = specPath.child(list).index(i).child('resources')
      const after = containersIn(next, list)[i]
      return amountLists.flatMap((field) =>
        isRemoved(after?.resources, container.resources, field)
          ? [forbidden(path.child(field), `resource ${field} cannot be removed`)]
          : [],
      )
    }),
  )
}

const canResizeInit = ({ has, feature }: PodRules): boolean =>
  has(initContainersCan) && feature('InPlacePodVerticalScalingInitContainers')

function keepAmounts(container: Loose, old: Loose): void {
  const resources = withOldAmounts(container.resources ?? {}, old.resources) as Loose
  if (Object.keys(resources).length > 0 || old.resources) container.resources = resources
  else delete container.resources
}

function checkContainers(kept: Loose, old: Loose): FieldError[] {
  return containersIn(kept, 'containers').flatMap((container, i) => {
    const before = old.containers[i]
    keepAmounts(container, before)
    return samePart(container, before) ? [] : [forbidden(specPath, onlyComputeResources)]
  })
}

function checkInitContainers(kept: Loose, old: Loose, rules: PodRules): FieldError[] {
  return containersIn(kept, 'initContainers').flatMap((container, i) => {
    const before = old.initContainers[i]
    const path = specPath.child('initContainers').index(i)
    const isChanged = !samePart(container, before)
    if (!isSidecar(container) && !canResizeInit(rules)) {
      const detail = 'resources for non-sidecar init containers are immutable'
      return isChanged ? [forbidden(specPath, detail)] : []
    }
    keepAmounts(container, before)
    const errors: FieldError[] = []
    if (!samePart(container, before)) {
      const detail = 'only cpu and memory resources for init or sidecar containers are mutable'
      errors.push(forbidden(path, detail))
    }
    if (!isChanged || isSidecar(container)) return errors
    for (const { restartPolicy } of (container.resizePolicy ?? []) as Loose[]) {
      if (restartPolicy !== 'RestartContainer') continue
      const detail =
        'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'
      errors.push(forbidden(path, detail))
    }
    return errors
  })
}

const volumesCan = change('volumes in memory can be resized behind a gate', { since: 37 })

function checkVolumes(next: Loose, old: Loose, rules: PodRules): FieldError[] {
  if (!rules.has(volumesCan)) return []
  const path = specPath.child('volumes')
  const [before, after]: Loose[][] = [old.volumes ?? [], next.volumes ?? []]
  if (!rules.feature('InPlacePodVerticalScalingMemoryBackedVolumes')) {
    const detail =
      'volumes are immutable on resize when InPlacePodVerticalScalingMemoryBackedVolumes feature gate is disabled'
    return samePart(after, before) ? [] : [forbidden(path, detail)]
  }
  if (before?.length !== after?.length) {
    return [forbidden(path, 'volumes may not be added or removed on resize')]
  }
  return (after as Loose[]).flatMap((volume, i) =>
    checkVolume(volume, (before as Loose[])[i] as Loose, path.index(i)),
  )
}

function checkVolume(next: Loose, old: Loose, path: FieldPath): FieldError[] {
  if (next.name !== old.name) {
    return [forbidden(path.child('name'), 'volumes may not be renamed or reordered on resize')]
  }
  const both = next.emptyDir && old.emptyDir
  const sizeLimit: string | undefined = old.emptyDir?.sizeLimit ?? undefined
  const compared = both ? { ...next, emptyDir: { ...next.emptyDir, sizeLimit } } : next
  if (!samePart(compared, old)) {
    const detail = 'only sizeLimit of memory-backed emptyDir volumes is mutable on resize'
    return [forbidden(path, detail)]
  }
  if (!both) return []
  const limit: string | undefined = next.emptyDir.sizeLimit ?? undefined
  const at = path.child('emptyDir', 'sizeLimit')
  const isLimit = (amount: string | undefined) => amount !== undefined && !isZeroQuantity(amount)
  if (isLimit(sizeLimit) !== isLimit(limit)) {
    const detail = 'adding or removing sizeLimit on an existing volume is not allowed'
    return [forbidden(at, detail)]
  }
  if (sizeLimit === undefined || limit === undefined) return []
  if (compareQuantities(sizeLimit, limit) === 0 || next.emptyDir.medium === 'Memory') return []
  return [forbidden(at, 'sizeLimit is only mutable for memory-backed emptyDir volumes')]
}
