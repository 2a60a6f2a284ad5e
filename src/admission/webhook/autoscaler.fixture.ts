/**
 * An autoscaler for tests of versions: one field of autoscaling/v1 is a metric in newer versions.
 */
import { kindOf } from '#admission/requests.suite.ts'
import type { KubeObject } from '#api/object-meta.ts'

export const v1 = kindOf('autoscaling/v1', 'horizontalpodautoscalers')

/** The hub version. */
export async function scaler(): Promise<KubeObject> {
  const { object } = v1.conform({
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'h' },
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { kind: 'Deployment', name: 'd' },
      targetCPUUtilizationPercentage: 50,
    },
  })
  const [made] = await v1.resource.convert([object], v1, v1.resource.hub)
  return made as KubeObject
}

/** The version that is requested. */
export async function backInV1(object: KubeObject): Promise<KubeObject> {
  const [back] = await v1.resource.convert([structuredClone(object)], v1.resource.hub, v1)
  return back as KubeObject
}
