/**
 * Adds default tolerations for nodes that are not ready or unreachable to pods without such
 * tolerations.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { AdmissionPlugin } from './admission.ts'

export function defaultTolerationSeconds(
  notReadySeconds: number,
  unreachableSeconds: number,
): AdmissionPlugin {
  const defaults = [
    { key: 'node.kubernetes.io/not-ready', tolerationSeconds: notReadySeconds },
    { key: 'node.kubernetes.io/unreachable', tolerationSeconds: unreachableSeconds },
  ]
  return {
    name: 'DefaultTolerationSeconds',
    mutate({ operation, kind, subresource, object }) {
      if (kind.plural !== 'pods' || kind.group !== '' || subresource !== '') return
      if (operation !== 'CREATE' && operation !== 'UPDATE') return
      const { spec } = object as KubeObject
      const tolerations: Loose[] = spec.tolerations ?? []
      const missing = defaults.filter(({ key }) => !tolerations.some((one) => tolerates(one, key)))
      if (missing.length === 0) return
      const added = missing.map(({ key, tolerationSeconds }) => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds,
      }))
      spec.tolerations = [...tolerations, ...added]
    },
  }
}

const tolerates = ({ key, effect }: Loose, wanted: string) =>
  (!key || key === wanted) && (!effect || effect === 'NoExecute')
