/**
 * Other versions that kinds of the samples are served in, as the beginnings of paths, and what has
 * a Scale.
 */
export const otherVersions: Readonly<Record<string, readonly string[]>> = {
  cronjobs: ['apis/batch/v1beta1'],
  poddisruptionbudgets: ['apis/policy/v1beta1'],
  horizontalpodautoscalers: [
    'apis/autoscaling/v1',
    'apis/autoscaling/v2beta1',
    'apis/autoscaling/v2beta2',
  ],
  endpointslices: ['apis/discovery.k8s.io/v1beta1'],
  runtimeclasses: ['apis/node.k8s.io/v1beta1'],
  events: ['api/v1', 'apis/events.k8s.io/v1', 'apis/events.k8s.io/v1beta1'],
}

export const scaled: ReadonlySet<string> = new Set([
  'deployments',
  'replicasets',
  'statefulsets',
  'replicationcontrollers',
])
