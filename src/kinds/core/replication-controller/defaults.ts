/** Defaults of ReplicationController. */
import type { Defaulters } from '#kinds/all-kinds/defaulter.ts'

export const replicationControllerDefaults: Defaulters = {
  'io.k8s.api.core.v1.ReplicationController': (value) => {
    value.spec ??= {}
    const labels: Record<string, string> | undefined = value.spec.template?.metadata?.labels
    if (labels) {
      if (Object.keys(value.spec.selector ?? {}).length === 0) value.spec.selector = { ...labels }
      if (Object.keys(value.metadata.labels ?? {}).length === 0)
        value.metadata.labels = { ...labels }
    }
    value.spec.replicas ??= 1
  },
}
