/** Pods that say nothing about it stay five minutes on a node that is not ready or cannot be reached. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { AdmissionPlugin } from './admission.ts'

const keys = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const tolerationSeconds = 300

export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  mutate({ operation, kind, subresource, object }) {
    if (kind.plural !== 'pods' || kind.group !== '' || subresource !== '') return
    if (operation !== 'CREATE' && operation !== 'UPDATE') return
    const { spec } = object as KubeObject
    const tolerations: Loose[] = spec.tolerations ?? []
    const missing = keys.filter((key) => !tolerations.some((one) => tolerates(one, key)))
    if (missing.length === 0) return
    const added = missing.map((key) => ({
      key,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds,
    }))
    spec.tolerations = [...tolerations, ...added]
  },
}

const tolerates = ({ key, effect }: Loose, wanted: string) =>
  (!key || key === wanted) && (!effect || effect === 'NoExecute')
