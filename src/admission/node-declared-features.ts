/**
 * The NodeDeclaredFeatureValidator plugin. Nodes declare their features. An update of a pod is
 * rejected if it needs a feature that the pod's node lacks. Devices cannot be mapped to node
 * resources if the node does not support that.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { compareQuantities } from '#api/quantity.ts'
import { change, type Release } from '#api/releases/change.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import { qosClassOf } from '#kinds/core/pod/qos-class.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { isMain, isWrite } from './match.ts'
import { matchesNodeSelector } from './node-selector.ts'
import { refusal } from './refusal.ts'

const devicesFeature = 'DRANodeAllocatableResources'

const guaranteedResize = change('a node declares whether guaranteed pods can be resized', {
  since: 35,
  until: 35,
})
const initResize = change('a node declares whether init containers can be resized', { since: 36 })
const volumeResize = change('a node declares whether volumes in memory can be resized', {
  since: 37,
})
const checksDevices = change('a node declares whether devices can map to its resources', {
  since: 37,
})

interface Declared {
  readonly name: string
  isNeeded(next: KubeObject, old: KubeObject): boolean
}

/** The node features that an update of a pod may require, by name. */
const featuresOf = (release: Release): Declared[] => [
  ...(release.has(guaranteedResize)
    ? [{ name: 'GuaranteedQoSPodCPUResize', isNeeded: resizesGuaranteed }]
    : []),
  {
    name: 'InPlacePodLevelResourcesVerticalScaling',
    isNeeded: (next, old) => !semanticEqual(next.spec.resources, old.spec.resources),
  },
  ...(release.has(initResize)
    ? [{ name: 'InPlacePodVerticalScalingInitContainers', isNeeded: resizesInit }]
    : []),
  ...(release.has(volumeResize)
    ? [{ name: 'InPlacePodVerticalScalingMemoryBackedVolumes', isNeeded: resizesVolumes }]
    : []),
]

export function nodeDeclaredFeatures(
  feature: (gate: string) => boolean,
  release: Release,
): AdmissionPlugin {
  const features = featuresOf(release)
  const hasDevices = release.has(checksDevices) && feature(devicesFeature)
  return {
    name: 'NodeDeclaredFeatureValidator',
    validate(request, reader) {
      if (hasDevices && isWrite(request) && isMain(request, 'resource.k8s.io', 'resourceslices'))
        return checkSlice(request, request.object as KubeObject, reader)
      if (!changesPod(request)) return
      const [next, old] = [request.object as KubeObject, request.old as KubeObject]
      const needed = features.filter(({ isNeeded }) => isNeeded(next, old))
      if (needed.length === 0) return
      return checkPod(
        request,
        next.spec.nodeName,
        needed.map(({ name }) => name),
        reader,
      )
    },
  }
}

/** The generation of a pod grows with every change of its spec. */
function changesPod({ kind, operation, subresource, object, old }: AdmissionRequest): boolean {
  if (operation !== 'UPDATE' || kind.plural !== 'pods' || kind.group !== '') return false
  if (subresource !== '' && subresource !== 'resize') return false
  return !!object?.spec.nodeName && object.metadata.generation !== old?.metadata.generation
}

async function checkPod(
  request: AdmissionRequest,
  name: string,
  needed: readonly string[],
  reader: ObjectReader,
): Promise<void> {
  const node = await reader.get('', 'nodes', '', name)
  if (node === undefined) throw refusal(request, `node "${name}" not found`)
  const missing = needed.filter((one) => !declares(node, one))
  if (missing.length === 0) return
  const why = `pod update requires features ${missing.join(', ')} which are not available on node "${name}"`
  throw refusal(request, why)
}

const declares = ({ status }: KubeObject, feature: string): boolean =>
  status?.declaredFeatures?.includes(feature) === true

function resizesGuaranteed({ spec }: KubeObject, old: KubeObject): boolean {
  if ((old.status?.qosClass ?? qosClassOf(old.spec)) !== 'Guaranteed') return false
  const cpu = (container: Loose | undefined): string => container?.resources?.requests?.cpu ?? '0'
  return (old.spec.containers as Loose[]).some(
    (one, i) => compareQuantities(cpu(one), cpu(spec.containers[i])) !== 0,
  )
}

const resizesInit = ({ spec }: KubeObject, old: KubeObject): boolean =>
  ((old.spec.initContainers ?? []) as Loose[]).some(
    ({ restartPolicy, resources }, i) =>
      restartPolicy !== 'Always' && !semanticEqual(resources, spec.initContainers[i]?.resources),
  )

function resizesVolumes({ spec }: KubeObject, old: KubeObject): boolean {
  const [next, before]: Loose[][] = [spec.volumes ?? [], old.spec.volumes ?? []]
  if (next?.length !== before?.length) return false
  return (next ?? []).some(({ name, emptyDir }, i) => {
    const other = before?.[i]
    if (name !== other?.name || emptyDir?.medium !== 'Memory') return false
    const [limit, was] = [emptyDir.sizeLimit, other?.emptyDir?.sizeLimit]
    return limit !== undefined && was !== undefined && compareQuantities(limit, was) !== 0
  })
}

async function checkSlice(
  request: AdmissionRequest,
  { spec }: KubeObject,
  reader: ObjectReader,
): Promise<void> {
  const lacks = (name: string | undefined) =>
    refusal(request, `node "${name}" does not support ${devicesFeature} feature`)
  for (const device of (spec.devices ?? []) as Loose[]) {
    if (Object.keys(device.nodeAllocatableResources ?? {}).length === 0) continue
    const { nodeName, nodeSelector, allNodes }: Loose =
      spec.perDeviceNodeSelection === true ? device : spec
    if (nodeName) {
      const node = await reader.get('', 'nodes', '', nodeName)
      if (node === undefined)
        throw refusal(request, `node "${nodeName}" not found for device "${device.name}"`)
      if (!declares(node, devicesFeature)) throw lacks(nodeName)
      continue
    }
    if (!nodeSelector && allNodes !== true) {
      const why = `device "${device.name}" in ResourceSlice has NodeAllocatableResources but does not map to any nodes`
      throw refusal(request, why)
    }
    for (const node of await reader.list('', 'nodes')) {
      const isMeant = !nodeSelector || matchesNodeSelector(nodeSelector, node)
      if (isMeant && !declares(node, devicesFeature)) throw lacks(node.metadata.name)
    }
  }
}
