/**
 * Rejects required pod anti-affinity with a topology other than the host name, because it could
 * exclude other pods from a whole zone.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { forbiddenRequest } from '#api/status-error.ts'
import type { AdmissionPlugin } from './admission.ts'
import { isPod, isWrite } from './match.ts'

const hostname = 'kubernetes.io/hostname'

export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  validate(request) {
    if (!isPod(request) || !isWrite(request)) return
    const { spec, metadata } = request.object as KubeObject
    const terms: Loose[] =
      spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    for (const { topologyKey = '' } of terms) {
      if (topologyKey === hostname) continue
      throw forbiddenRequest(
        request.kind,
        metadata.name ?? '',
        `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${topologyKey} but only key ${hostname} is allowed`,
      )
    }
  },
}
