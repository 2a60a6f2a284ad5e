/**
 * The PodTopologyLabels plugin copies the zone and region labels of a node to its pods, or to the
 * binding of a pod.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { setKey } from '#schema/user-key.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'

const copied = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

export const podTopologyLabels: AdmissionPlugin = {
  name: 'PodTopologyLabels',
  mutate(request, reader) {
    if (request.operation !== 'CREATE' || request.object === undefined) return
    const node = nodeOf(request, request.object)
    if (node) return copyLabels(request.object, node, reader)
  },
}

/** The request of a binding may have the kind Pod or Binding, depending on its path. */
function nodeOf({ kind, subresource }: AdmissionRequest, object: KubeObject): string | undefined {
  if (kind.group !== '') return undefined
  if (subresource === 'binding') return object.target?.kind === 'Node' ? object.target.name : ''
  return kind.plural === 'pods' && subresource === '' ? object.spec?.nodeName : undefined
}

async function copyLabels(object: KubeObject, name: string, reader: ObjectReader): Promise<void> {
  const node = await reader.get('', 'nodes', '', name)
  const labels = { ...object.metadata.labels }
  for (const key of copied) {
    const value = ownValue(node?.metadata.labels, key)
    if (value !== undefined) setKey(labels, key, value)
  }
  if (Object.keys(labels).length > 0) object.metadata.labels = labels
}
