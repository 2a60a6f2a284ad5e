/**
 * Random objects of every built-in kind that servers mostly take, different in what the columns of
 * tables show: for the fuzzer of tables. A kind stands here once for each version whose objects
 * have this shape; which of them a server has, it says itself.
 */
import type { Json } from '#api/object-meta.ts'
import type { Random } from './random.ts'
import { randomTime } from './random-status.ts'

type Body = { [key: string]: Json }

export interface TableKind {
  /** `v1`, `apps/v1`: the first that a server has is used. */
  readonly versions: readonly string[]
  readonly kind: string
  body(random: Random, now: number): Body
}

const labels = { app: 'web' }
const some = <T>(random: Random, max: number, one: (i: number) => T): T[] =>
  Array.from({ length: random.below(max + 1) }, (_, i) => one(i))
/** A field that may be absent. */
const perhaps = (random: Random, name: string, value: Json, chance = 0.6): Body =>
  random.chance(chance) ? { [name]: value } : {}

const containersOf = (random: Random, least = 1, prefix = 'c'): Json[] =>
  Array.from({ length: least + random.below(3) }, (_, i) => ({
    name: `${prefix}${i}`,
    image: random.pick(['nginx', 'nginx:1', 'r.example.com/a/b@sha256:0']),
  }))
const podSpec = (random: Random): Body => ({
  containers: containersOf(random),
  ...perhaps(random, 'initContainers', containersOf(random, 1, 'i'), 0.5),
  ...perhaps(random, 'nodeSelector', random.pick<Body>([{ a: 'b' }, { z: '1', a: '2' }, {}]), 0.4),
})
const template = (random: Random): Json => ({ metadata: { labels }, spec: podSpec(random) })
const selectorOf = (random: Random): Body =>
  random.pick<Body>([
    { matchLabels: labels },
    { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'a', 'b'] }] },
    { matchLabels: labels, matchExpressions: [{ key: 'x', operator: 'DoesNotExist' }] },
    { matchExpressions: [{ key: 'app', operator: 'Exists' }] },
    { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['b', 'a'] }] },
  ])
const controller = (random: Random): Body => ({
  spec: {
    selector: selectorOf(random),
    template: template(random),
    ...perhaps(random, 'replicas', random.below(4)),
  },
})
/** kubectl wants to know which service a stateful set is for. */
const withService = (kind: string, body: Body): Body =>
  kind === 'StatefulSet' ? { spec: { ...(body.spec as Body), serviceName: 's' } } : body
const jobSpec = (random: Random): Body => ({
  template: { metadata: { labels }, spec: { ...podSpec(random), restartPolicy: 'Never' } },
  ...perhaps(random, 'completions', random.below(5)),
  ...perhaps(random, 'parallelism', random.below(5)),
})
const modes = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany']
const modesOf = (random: Random): string[] => [
  random.pick(modes),
  ...some(random, 2, () => random.pick(modes)),
]
const quantity = (random: Random) =>
  random.pick(['1Gi', '1500Mi', '1.5Gi', '2000M', '1024', '0.5Gi', '1e9', '10Ki'])
const webhooks = (random: Random): Json[] =>
  some(random, 3, (i) => ({
    name: `w${i}.example.com`,
    clientConfig: { url: 'https://a.example.com/' },
    rules: [],
    failurePolicy: 'Ignore',
    sideEffects: 'None',
    admissionReviewVersions: ['v1', 'v1beta1'],
  }))
const subjects = (random: Random): Json[] =>
  some(random, 4, (i) =>
    random.pick<Json>([
      { kind: 'User', name: `u${i}`, apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'Group', name: `g${i}`, apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'ServiceAccount', name: `s${i}`, namespace: 'n' },
    ]),
  )
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
const reference = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: 'r' })

function service(random: Random): Body {
  const type = random.pick(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'])
  const protocol = () => random.pick(['TCP', 'UDP', 'SCTP'])
  const ports: Json[] = Array.from({ length: 1 + random.below(3) }, (_, i) => ({
    name: `p${i}`,
    port: 80 + i,
    protocol: protocol(),
  }))
  return {
    spec: {
      type,
      ...(type === 'ExternalName' ? { externalName: 'a.example.com' } : { ports }),
      ...(type === 'ClusterIP' ? perhaps(random, 'clusterIP', 'None', 0.3) : {}),
      ...perhaps(random, 'selector', random.pick<Body>([labels, { b: '1', a: '2' }, {}])),
      ...(type === 'ExternalName'
        ? {}
        : perhaps(random, 'externalIPs', ['1.2.3.4', '5.6.7.8'].slice(random.below(2)), 0.4)),
    },
  }
}

const subsets = (random: Random): Json[] =>
  some(random, 3, (s) => ({
    ...perhaps(
      random,
      'addresses',
      Array.from({ length: 1 + random.below(3) }, (_, i) => ({ ip: `10.1.${s}.${i}` })),
      0.8,
    ),
    ...perhaps(random, 'notReadyAddresses', [{ ip: `10.2.${s}.1` }], 0.4),
    ...perhaps(
      random,
      'ports',
      Array.from({ length: 1 + random.below(2) }, (_, i) => ({ name: `p${i}`, port: 80 + i })),
      0.8,
    ),
  }))

const slice = (random: Random): Body => {
  const address = random.pick(['IPv4', 'IPv6'])
  return {
    addressType: address,
    endpoints: some(random, 4, (i) => ({
      addresses: Array.from({ length: 1 + random.below(2) }, (_, j) =>
        address === 'IPv4' ? `10.1.${i}.${j}` : `fd00::${i}:${j}`,
      ),
    })),
    ports: some(random, 5, (i) => ({
      name: `p${i}`,
      ...perhaps(random, 'port', 80 + i),
      protocol: 'TCP',
    })),
  }
}

const metricsOf = (random: Random): Json[] =>
  some(random, 3, () => {
    const target = random.pick<Body>([
      { type: 'Value', value: '10' },
      { type: 'AverageValue', averageValue: '1500m' },
    ])
    const utilization = random.pick<Body>([
      { type: 'Utilization', averageUtilization: 50 },
      { type: 'AverageValue', averageValue: '100Mi' },
    ])
    const describedObject = { kind: 'Service', name: 's', apiVersion: 'v1' }
    return random.pick<Json>([
      { type: 'Resource', resource: { name: 'cpu', target: utilization } },
      {
        type: 'Pods',
        pods: {
          metric: { name: 'p' },
          target: { ...target, type: 'AverageValue', averageValue: '3' },
        },
      },
      { type: 'Object', object: { metric: { name: 'o' }, describedObject, target } },
      { type: 'External', external: { metric: { name: 'e' }, target } },
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'c', target: utilization },
      },
    ])
  })

const ingressRules = (random: Random, backend: Json, path: Body): Json[] =>
  some(random, 5, (i) => ({
    ...perhaps(random, 'host', `h${i}.example.com`, 0.7),
    http: { paths: [{ path: '/x', ...path, backend }] },
  }))
const tls = (random: Random): Body => perhaps(random, 'tls', [{ secretName: 's' }], 0.4)
export const certificateRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITk1IVUNBUUF3RXpFUk1BOEdBMVVFQXd3SWMyOXRaV0p2Wkhrd1dUQVRCZ2NxaGtqT1BRSUJCZ2dxaGtqTwpQUU1CQndOQ0FBUTMzMG16Uk1PenIrWHpUcFRBSEd3OGFjU0NEYTZqUWl6RkdRYjk5QnNOazJiRnlFQ3FjUEtPCldyd0RFaVFrWkJUZ1BhL2JGVE5VS0c0enZBY2lzRFBrb0FBd0NnWUlLb1pJemowRUF3SURTQUF3UlFJaEFLVGsKNFJPdm1rQzluRFhkVUFuYm1rMUFtU0ZTZFBKL1J3Y0g1dmRydmVvYkFpQXdWS0tPcWRjSTM5MURVcWxhWTdiWAorMkcrQkZHNHdKU2xNZWxtWm9CRERnPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='

const policyRules = {
  seLinux: { rule: 'RunAsAny' },
  supplementalGroups: { rule: 'RunAsAny' },
}

function event(random: Random, now: number): Body {
  const time = () => randomTime(random, now)
  return {
    ...perhaps(random, 'reason', random.pick(['R', 'Odd reason'])),
    ...perhaps(random, 'message', random.pick(['m', ' spaced \n', 'two\nlines'])),
    ...perhaps(random, 'type', random.pick(['Normal', 'Warning'])),
    ...perhaps(random, 'count', random.below(4)),
    ...perhaps(random, 'firstTimestamp', time()),
    ...perhaps(random, 'lastTimestamp', time()),
    ...(random.chance(0.4)
      ? {
          eventTime: time().replace('Z', '.000000Z'),
          reportingComponent: 'a.b/c',
          reportingInstance: 'i',
          action: 'A',
          reason: 'R',
        }
      : {}),
    ...perhaps(
      random,
      'source',
      random.pick<Body>([{ component: 'c' }, { component: 'c', host: 'h' }, { host: 'h' }, {}]),
    ),
    ...perhaps(
      random,
      'series',
      { count: random.below(5), lastObservedTime: time().replace('Z', '.000000Z') },
      0.3,
    ),
    involvedObject: {
      ...perhaps(random, 'kind', random.pick(['Pod', 'ReplicaSet']), 0.8),
      ...perhaps(random, 'name', 'p', 0.8),
      ...perhaps(random, 'fieldPath', 'spec.containers{c}'),
    },
  }
}

const volume = (random: Random): Body => ({
  spec: {
    accessModes: modesOf(random),
    capacity: { storage: quantity(random) },
    hostPath: { path: '/x' },
    ...perhaps(random, 'storageClassName', random.pick(['', 'fast'])),
    ...perhaps(random, 'volumeMode', random.pick(['Block', 'Filesystem'])),
    ...perhaps(
      random,
      'persistentVolumeReclaimPolicy',
      random.pick(['Retain', 'Delete', 'Recycle']),
    ),
    ...perhaps(random, 'claimRef', { namespace: 'n', name: 'c' }),
  },
})
const claim = (random: Random): Body => ({
  spec: {
    accessModes: modesOf(random),
    resources: { requests: { storage: quantity(random) } },
    ...perhaps(random, 'storageClassName', random.pick(['', 'fast'])),
    ...perhaps(random, 'volumeMode', random.pick(['Block', 'Filesystem'])),
    ...perhaps(random, 'volumeName', 'v'),
  },
})

export const tableKinds: readonly TableKind[] = [
  {
    versions: ['v1'],
    kind: 'Pod',
    body: (random) => ({
      spec: {
        ...podSpec(random),
        ...perhaps(random, 'nodeName', 'n', 0.4),
        ...perhaps(
          random,
          'readinessGates',
          ['Ready', 'example.com/gate', 'example.com/none']
            .slice(random.below(3))
            .map((conditionType) => ({ conditionType })),
        ),
      },
    }),
  },
  { versions: ['v1'], kind: 'PodTemplate', body: (random) => ({ template: template(random) }) },
  {
    versions: ['v1'],
    kind: 'ReplicationController',
    body: (random) => ({
      spec: {
        selector: labels,
        template: template(random),
        ...perhaps(random, 'replicas', random.below(4)),
      },
    }),
  },
  ...['ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet'].map((kind) => ({
    versions: ['apps/v1'],
    kind,
    body: (random: Random) => withService(kind, controller(random)),
  })),
  {
    versions: ['apps/v1'],
    kind: 'ControllerRevision',
    body: (random) => ({ revision: random.below(100), data: { a: 1 } }),
  },
  { versions: ['batch/v1'], kind: 'Job', body: (random) => ({ spec: jobSpec(random) }) },
  {
    versions: ['batch/v1', 'batch/v1beta1'],
    kind: 'CronJob',
    body: (random) => ({
      spec: {
        schedule: random.pick(['* * * * *', '@daily', '*/5 1 * * 1']),
        jobTemplate: { spec: jobSpec(random) },
        ...perhaps(random, 'suspend', random.chance(0.5)),
      },
    }),
  },
  { versions: ['v1'], kind: 'Service', body: service },
  { versions: ['v1'], kind: 'Endpoints', body: (random) => ({ subsets: subsets(random) }) },
  {
    versions: ['discovery.k8s.io/v1', 'discovery.k8s.io/v1beta1'],
    kind: 'EndpointSlice',
    body: slice,
  },
  {
    versions: ['networking.k8s.io/v1'],
    kind: 'Ingress',
    body: (random) => {
      const backend = { service: { name: 's', port: { number: 80 } } }
      return {
        spec: {
          defaultBackend: backend,
          rules: ingressRules(random, backend, { pathType: 'Prefix' }),
          ...tls(random),
          ...perhaps(random, 'ingressClassName', 'c', 0.5),
        },
      }
    },
  },
  {
    versions: ['networking.k8s.io/v1beta1', 'extensions/v1beta1'],
    kind: 'Ingress',
    body: (random) => {
      const backend = { serviceName: 's', servicePort: 80 }
      return { spec: { backend, rules: ingressRules(random, backend, {}), ...tls(random) } }
    },
  },
  {
    versions: ['networking.k8s.io/v1', 'networking.k8s.io/v1beta1'],
    kind: 'IngressClass',
    body: (random) => ({
      spec: {
        controller: 'a.b/c',
        ...perhaps(random, 'parameters', {
          kind: 'K',
          name: 'n',
          ...perhaps(random, 'apiGroup', 'g.example.com'),
        }),
      },
    }),
  },
  {
    versions: ['networking.k8s.io/v1'],
    kind: 'NetworkPolicy',
    body: (random) => ({ spec: { podSelector: random.pick<Body>([selectorOf(random), {}]) } }),
  },
  { versions: ['v1'], kind: 'PersistentVolume', body: volume },
  { versions: ['v1'], kind: 'PersistentVolumeClaim', body: claim },
  {
    versions: ['storage.k8s.io/v1'],
    kind: 'StorageClass',
    body: (random) => ({
      provisioner: 'a.b/c',
      ...perhaps(random, 'reclaimPolicy', random.pick(['Retain', 'Delete'])),
      ...perhaps(random, 'volumeBindingMode', random.pick(['Immediate', 'WaitForFirstConsumer'])),
      ...perhaps(random, 'allowVolumeExpansion', random.chance(0.5)),
    }),
  },
  {
    versions: ['storage.k8s.io/v1', 'storage.k8s.io/v1beta1'],
    kind: 'CSIDriver',
    body: (random) => ({
      spec: {
        ...perhaps(random, 'attachRequired', random.chance(0.5)),
        ...perhaps(random, 'podInfoOnMount', random.chance(0.5)),
        ...perhaps(random, 'storageCapacity', random.chance(0.5)),
        ...perhaps(random, 'requiresRepublish', random.chance(0.5)),
        ...perhaps(
          random,
          'tokenRequests',
          some(random, 2, (i) => ({ audience: `a${i}` })),
        ),
        ...perhaps(
          random,
          'volumeLifecycleModes',
          ['Persistent', 'Ephemeral'].slice(random.below(3)),
        ),
      },
    }),
  },
  {
    versions: ['storage.k8s.io/v1', 'storage.k8s.io/v1beta1'],
    kind: 'CSINode',
    body: (random) => ({
      spec: { drivers: some(random, 3, (i) => ({ name: `d${i}`, nodeID: 'n' })) },
    }),
  },
  {
    versions: ['storage.k8s.io/v1beta1', 'storage.k8s.io/v1alpha1'],
    kind: 'CSIStorageCapacity',
    body: (random) => ({ storageClassName: 'c', ...perhaps(random, 'capacity', quantity(random)) }),
  },
  {
    versions: ['storage.k8s.io/v1'],
    kind: 'VolumeAttachment',
    body: () => ({ spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } } }),
  },
  {
    versions: ['v1'],
    kind: 'Node',
    body: (random) => ({ spec: { ...perhaps(random, 'unschedulable', random.chance(0.5)) } }),
  },
  { versions: ['v1'], kind: 'Namespace', body: () => ({}) },
  {
    versions: ['v1'],
    kind: 'ResourceQuota',
    body: (random) => ({
      spec: { hard: { pods: '5', ...perhaps(random, 'limits.cpu', '1500m') } },
    }),
  },
  {
    versions: ['v1'],
    kind: 'LimitRange',
    body: () => ({ spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } }),
  },
  {
    versions: ['v1'],
    kind: 'ConfigMap',
    body: (random) => ({
      ...perhaps(random, 'data', { a: '1', b: '2' }),
      ...perhaps(random, 'binaryData', { c: 'aGk=' }),
    }),
  },
  {
    versions: ['v1'],
    kind: 'Secret',
    body: (random) => ({
      ...perhaps(random, 'data', { a: 'aGk=' }),
      ...perhaps(random, 'stringData', { b: 'x' }),
      ...perhaps(random, 'type', random.pick(['Opaque', 'example.com/odd'])),
    }),
  },
  {
    versions: ['v1'],
    kind: 'ServiceAccount',
    body: (random) => ({ secrets: some(random, 3, (i) => ({ name: `s${i}` })) }),
  },
  { versions: ['v1'], kind: 'Event', body: event },
  {
    versions: ['autoscaling/v2beta2'],
    kind: 'HorizontalPodAutoscaler',
    body: (random) => ({
      spec: {
        maxReplicas: 3,
        ...perhaps(random, 'minReplicas', 1 + random.below(2)),
        scaleTargetRef: {
          kind: 'Deployment',
          name: 'd',
          ...perhaps(random, 'apiVersion', 'apps/v1'),
        },
        metrics: metricsOf(random),
      },
    }),
  },
  {
    versions: ['policy/v1', 'policy/v1beta1'],
    kind: 'PodDisruptionBudget',
    body: (random) => ({
      spec: random.pick<Body>([
        { minAvailable: 1 },
        { maxUnavailable: '25%' },
        { minAvailable: '50%', selector: { matchLabels: labels } },
        {},
      ]),
    }),
  },
  {
    versions: ['policy/v1beta1'],
    kind: 'PodSecurityPolicy',
    body: (random) => ({
      spec: {
        ...policyRules,
        runAsUser: { rule: random.pick(['RunAsAny', 'MustRunAsNonRoot']) },
        fsGroup: { rule: 'RunAsAny' },
        ...perhaps(random, 'privileged', true),
        ...perhaps(random, 'readOnlyRootFilesystem', true),
        ...perhaps(random, 'allowedCapabilities', ['NET_ADMIN', 'SYS_TIME']),
        ...perhaps(random, 'volumes', ['*', 'secret'].slice(random.below(2))),
      },
    }),
  },
  ...['RoleBinding', 'ClusterRoleBinding'].map((kind) => ({
    versions: ['rbac.authorization.k8s.io/v1'],
    kind,
    body: (random: Random) => ({ roleRef: reference('ClusterRole'), subjects: subjects(random) }),
  })),
  ...['Role', 'ClusterRole'].map((kind) => ({
    versions: ['rbac.authorization.k8s.io/v1'],
    kind,
    body: () => ({ rules }),
  })),
  ...['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map((kind) => ({
    versions: ['admissionregistration.k8s.io/v1', 'admissionregistration.k8s.io/v1beta1'],
    kind,
    body: (random: Random) => ({ webhooks: webhooks(random) }),
  })),
  {
    versions: ['apiregistration.k8s.io/v1'],
    kind: 'APIService',
    body: (random) => ({
      spec: {
        group: 'odd.example.com',
        version: 'v1',
        groupPriorityMinimum: 1 + random.below(10),
        versionPriority: 1,
        ...perhaps(random, 'service', { name: 's', namespace: 'n' }),
        insecureSkipTLSVerify: true,
      },
    }),
  },
  {
    versions: ['certificates.k8s.io/v1'],
    kind: 'CertificateSigningRequest',
    body: (random) => ({
      spec: {
        request: certificateRequest,
        signerName: 'example.com/signer',
        usages: ['client auth'],
        ...perhaps(random, 'expirationSeconds', random.pick([600, 3600, 86400, 100000])),
      },
    }),
  },
  {
    versions: ['coordination.k8s.io/v1'],
    kind: 'Lease',
    body: (random) => ({ spec: { ...perhaps(random, 'holderIdentity', random.pick(['h', ''])) } }),
  },
  {
    versions: ['scheduling.k8s.io/v1'],
    kind: 'PriorityClass',
    body: (random) => ({ value: random.pick([5, -5, 0, 1000000000]) }),
  },
  {
    versions: ['node.k8s.io/v1', 'node.k8s.io/v1beta1'],
    kind: 'RuntimeClass',
    body: () => ({ handler: 'h' }),
  },
  {
    versions: ['flowcontrol.apiserver.k8s.io/v1beta1'],
    kind: 'FlowSchema',
    body: (random) => ({
      spec: {
        priorityLevelConfiguration: { name: random.pick(['exempt', 'none']) },
        ...perhaps(random, 'matchingPrecedence', 1 + random.below(9000)),
        ...perhaps(random, 'distinguisherMethod', { type: random.pick(['ByUser', 'ByNamespace']) }),
      },
    }),
  },
  {
    versions: ['flowcontrol.apiserver.k8s.io/v1beta1'],
    kind: 'PriorityLevelConfiguration',
    body: (random) => ({
      spec: {
        type: 'Limited',
        limited: {
          ...perhaps(random, 'assuredConcurrencyShares', 1 + random.below(50)),
          limitResponse: random.pick<Json>([
            { type: 'Reject' },
            { type: 'Queue', queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
            { type: 'Queue', queuing: {} },
          ]),
        },
      },
    }),
  },
  {
    versions: ['apiextensions.k8s.io/v1'],
    kind: 'CustomResourceDefinition',
    body: () => ({
      spec: {
        group: 'odd.example.com',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    }),
  },
]

/**
 * Metadata that columns look at: roles of nodes, classes and defaults in annotations, who controls
 * an object.
 */
export function tableMetadata(random: Random): Body {
  const controllerOf = {
    apiVersion: random.pick(['apps/v1', 'v1']),
    kind: 'StatefulSet',
    name: 'web',
    uid: '00000000-0000-0000-0000-000000000001',
    controller: random.chance(0.7),
  }
  const isDefault = random.pick(['true', 'false'])
  return {
    labels: {
      ...labels,
      ...perhaps(random, 'node-role.kubernetes.io/master', '', 0.3),
      ...perhaps(random, 'node-role.kubernetes.io/a', 'x', 0.3),
      ...perhaps(random, 'kubernetes.io/role', random.pick(['worker', '']), 0.3),
    },
    annotations: {
      ...perhaps(random, 'storageclass.kubernetes.io/is-default-class', isDefault, 0.3),
      ...perhaps(random, 'storageclass.beta.kubernetes.io/is-default-class', isDefault, 0.2),
      ...perhaps(random, 'volume.beta.kubernetes.io/storage-class', 'slow', 0.2),
      ...perhaps(random, 'deployment.kubernetes.io/revision', '3', 0.2),
    },
    ...perhaps(random, 'ownerReferences', [controllerOf], 0.3),
    ...perhaps(random, 'finalizers', ['example.com/hold'], 0.4),
  }
}
