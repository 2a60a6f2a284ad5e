/**
 * The TaintNodesByCondition plugin taints new nodes as not ready until a controller removes the
 * taint.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { AdmissionPlugin } from './admission.ts'

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  mutate({ operation, kind, subresource, object }) {
    if (
      operation !== 'CREATE' ||
      kind.plural !== 'nodes' ||
      kind.group !== '' ||
      subresource !== ''
    )
      return
    const { spec } = object as KubeObject
    const taints: Loose[] = spec.taints ?? []
    if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return
    spec.taints = [...taints, { ...notReady }]
  },
}
