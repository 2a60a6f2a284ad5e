/**
 * One small valid object of each kind, to start random ones from. `{id}` is the run's own part of a
 * name.
 */
import type { Json } from '#api/object-meta.ts'
import { newerClusterWide, newerNamespaced, type SampleRow } from './newer-samples.ts'
import { comparedRelease, hasKind } from './types-of-facts.ts'

export interface Sample {
  /** Group and version as in a path: `api/v1`, `apis/apps/v1`. */
  readonly at: string
  readonly plural: string
  readonly namespaced: boolean
  readonly object: { [key: string]: Json }
}

const labels = { app: 'web' }
const container: Json = {
  name: 'c',
  image: 'nginx:1',
  ports: [{ containerPort: 80 }, { name: 'dns', containerPort: 53, protocol: 'UDP' }],
  env: [{ name: 'A', value: '1' }],
  resources: { requests: { cpu: '100m' }, limits: { memory: '1Gi' } },
  volumeMounts: [{ name: 'v', mountPath: '/v' }],
}
const podSpec: { [key: string]: Json } = {
  containers: [container],
  volumes: [{ name: 'v', emptyDir: {} }],
  tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
}
const template: Json = { metadata: { labels }, spec: podSpec }
const selector = { matchLabels: labels }
const jobSpec: Json = { template: { spec: { ...podSpec, restartPolicy: 'Never' } } }
const backend = { service: { name: 's', port: { number: 80 } } }
const webhook = {
  name: 'a.example.com',
  clientConfig: { service: { name: 's', namespace: 'n' } },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
}
const accessModes = ['ReadWriteOnce']

const autoscaler: { [key: string]: Json } = {
  spec: {
    maxReplicas: 3,
    scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      },
    ],
  },
}

const namespaced: readonly SampleRow[] = [
  ['api/v1', 'configmaps', 'ConfigMap', { data: { a: '1', b: '2' } }],
  ['api/v1', 'secrets', 'Secret', { data: { a: 'aGk=' }, stringData: { b: 'x' } }],
  ['api/v1', 'pods', 'Pod', { spec: podSpec }],
  ['api/v1', 'services', 'Service', { spec: { selector: labels, ports: [{ port: 80 }] } }],
  [
    'api/v1',
    'endpoints',
    'Endpoints',
    { subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }] },
  ],
  [
    'api/v1',
    'replicationcontrollers',
    'ReplicationController',
    { spec: { selector: labels, template } },
  ],
  ['api/v1', 'podtemplates', 'PodTemplate', { template }],
  ['api/v1', 'serviceaccounts', 'ServiceAccount', { secrets: [{ name: 'a' }] }],
  [
    'api/v1',
    'limitranges',
    'LimitRange',
    { spec: { limits: [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '500m' } }] } },
  ],
  [
    'api/v1',
    'resourcequotas',
    'ResourceQuota',
    { spec: { hard: { pods: '5', 'limits.cpu': '2' } } },
  ],
  [
    'api/v1',
    'persistentvolumeclaims',
    'PersistentVolumeClaim',
    { spec: { accessModes, resources: { requests: { storage: '1Gi' } } } },
  ],
  ['apis/apps/v1', 'deployments', 'Deployment', { spec: { replicas: 2, selector, template } }],
  ['apis/apps/v1', 'replicasets', 'ReplicaSet', { spec: { selector, template } }],
  [
    'apis/apps/v1',
    'statefulsets',
    'StatefulSet',
    { spec: { serviceName: 's', selector, template } },
  ],
  ['apis/apps/v1', 'daemonsets', 'DaemonSet', { spec: { selector, template } }],
  ['apis/batch/v1', 'jobs', 'Job', { spec: jobSpec }],
  [
    'apis/batch/v1',
    'cronjobs',
    'CronJob',
    { spec: { schedule: '* * * * *', jobTemplate: { spec: jobSpec } } },
  ],
  ['apis/autoscaling/v2beta2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', autoscaler],
  ['apis/autoscaling/v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', autoscaler],
  [
    'apis/policy/v1',
    'poddisruptionbudgets',
    'PodDisruptionBudget',
    { spec: { minAvailable: 1, selector } },
  ],
  [
    'apis/networking.k8s.io/v1',
    'ingresses',
    'Ingress',
    {
      spec: {
        defaultBackend: backend,
        rules: [{ host: 'a.b', http: { paths: [{ path: '/x', pathType: 'Prefix', backend }] } }],
        tls: [{ hosts: ['a.b'], secretName: 's' }],
      },
    },
  ],
  [
    'apis/networking.k8s.io/v1',
    'networkpolicies',
    'NetworkPolicy',
    {
      spec: {
        podSelector: selector,
        ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }],
      },
    },
  ],
  [
    'apis/discovery.k8s.io/v1',
    'endpointslices',
    'EndpointSlice',
    { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'] }], ports: [{ port: 80 }] },
  ],
  [
    'apis/coordination.k8s.io/v1',
    'leases',
    'Lease',
    { spec: { holderIdentity: 'a', leaseDurationSeconds: 5 } },
  ],
  [
    'apis/rbac.authorization.k8s.io/v1',
    'roles',
    'Role',
    { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  ],
  [
    'apis/rbac.authorization.k8s.io/v1',
    'rolebindings',
    'RoleBinding',
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }],
    },
  ],
]

const clusterWide: readonly SampleRow[] = [
  [
    'api/v1',
    'nodes',
    'Node',
    { spec: { podCIDR: '10.0.0.0/24', taints: [{ key: 'a', effect: 'NoSchedule' }] } },
  ],
  [
    'api/v1',
    'persistentvolumes',
    'PersistentVolume',
    { spec: { accessModes, capacity: { storage: '1Gi' }, hostPath: { path: '/x' } } },
  ],
  ['apis/storage.k8s.io/v1', 'storageclasses', 'StorageClass', { provisioner: 'a.b/c' }],
  ['apis/storage.k8s.io/v1', 'csidrivers', 'CSIDriver', { spec: { attachRequired: true } }],
  [
    'apis/storage.k8s.io/v1',
    'csinodes',
    'CSINode',
    { spec: { drivers: [{ name: 'a.b', nodeID: 'n' }] } },
  ],
  [
    'apis/storage.k8s.io/v1',
    'volumeattachments',
    'VolumeAttachment',
    { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } } },
  ],
  ['apis/scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass', { value: 5 }],
  [
    'apis/node.k8s.io/v1',
    'runtimeclasses',
    'RuntimeClass',
    { handler: 'h', overhead: { podFixed: { cpu: '1' } } },
  ],
  [
    'apis/networking.k8s.io/v1',
    'ingressclasses',
    'IngressClass',
    { spec: { controller: 'a.b/c' } },
  ],
  [
    'apis/rbac.authorization.k8s.io/v1',
    'clusterroles',
    'ClusterRole',
    { rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] },
  ],
  [
    'apis/admissionregistration.k8s.io/v1',
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
    {
      webhooks: [
        {
          ...webhook,
          failurePolicy: 'Ignore',
          namespaceSelector: { matchLabels: { no: 'where' } },
        },
      ],
    },
  ],
  [
    'apis/flowcontrol.apiserver.k8s.io/v1beta1',
    'prioritylevelconfigurations',
    'PriorityLevelConfiguration',
    { spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } },
  ],
  [
    'apis/flowcontrol.apiserver.k8s.io/v1beta1',
    'flowschemas',
    'FlowSchema',
    { spec: { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 5000 } },
  ],
]

const sampleOf = ([at, plural, kind, body, name]: SampleRow, isNamespaced: boolean): Sample => {
  const apiVersion = at.replace(/^apis?\//, '')
  const usualName = isNamespaced ? 'x' : '{id}-x'
  return {
    at,
    plural,
    namespaced: isNamespaced,
    object: { apiVersion, kind, metadata: { name: name ?? usualName, labels }, ...body },
  }
}

/** Of the kinds that a release has. */
export const samplesOf = (release: number): readonly Sample[] =>
  [
    ...[...namespaced, ...newerNamespaced].map((row) => sampleOf(row, true)),
    ...[...clusterWide, ...newerClusterWide].map((row) => sampleOf(row, false)),
  ].filter(({ object }) => hasKind(object.apiVersion as string, object.kind as string, release))

export const samples = samplesOf(comparedRelease)

/** The sample's object for a run, and the path it is created at. */
export function sampleFor(
  sample: Sample,
  id: string,
): { object: { [key: string]: Json }; path: string } {
  const { at, plural, object } = sample
  const place = sample.namespaced ? `/namespaces/${id}/${plural}` : `/${plural}`
  return {
    object: JSON.parse(JSON.stringify(object).replaceAll('{id}', id)),
    path: `/${at}${place}`,
  }
}
