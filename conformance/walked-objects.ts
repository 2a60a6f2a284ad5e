/**
 * Valid objects of every built-in kind in the shapes that have rules of their own, for the walk
 * over all fields: a service of each type, a volume of each source. What a row says of its fields
 * is what is walked of it: everything, or what only this shape has. `{id}` is the run's own part of
 * a name.
 */
import { newerClusterWideShapes, newerShapes, type ShapeRow } from './newer-shapes.ts'
import { comparedRelease, hasKind } from './types-of-facts.ts'
import type { Json } from '#api/object-meta.ts'
import { samplesOf } from './sample-objects.ts'
import { certificateRequest } from './table-objects.ts'

type Body = { [key: string]: Json }

export interface WalkedObject {
  readonly at: string
  readonly plural: string
  readonly namespaced: boolean
  readonly object: Body
  /** Distinguishes the shape from others of the kind. */
  readonly shape: string
  /** The release from which the shape has rules of its own. */
  readonly since: number
  /** Only fields below these paths, where they are named. */
  readonly below: readonly string[]
  /** Fields below these are walked with another shape. */
  readonly without: readonly string[]
}

const labels = { app: 'web' }
const selector = { matchLabels: labels }
const container = { name: 'c', image: 'nginx:1' }
const template: Body = { metadata: { labels }, spec: { containers: [container] } }
const jobTemplate: Body = {
  metadata: { labels },
  spec: { containers: [container], restartPolicy: 'Never' },
}
const storage = { requests: { storage: '1Gi' } }
const accessModes = ['ReadWriteOnce']
const backend = { service: { name: 's', port: { number: 80 } } }
const ofRoles = 'rbac.authorization.k8s.io'
const term = { labelSelector: selector, topologyKey: 'zone' }
const expressions = [{ key: 'a', operator: 'In', values: ['b'] }]
const reference = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }
const client = { service: { name: 's', namespace: 'n', path: '/x', port: 443 } }
const webhook: Body = {
  name: 'a.example.com',
  clientConfig: client,
  rules: [{ apiGroups: ['x'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] }],
  sideEffects: 'None',
  failurePolicy: 'Ignore',
  admissionReviewVersions: ['v1'],
  namespaceSelector: { matchLabels: { no: 'where' } },
}

const pod = (shape: string, spec: Body, below?: readonly string[]): ShapeRow => [
  'api/v1',
  'pods',
  'Pod',
  shape,
  { spec: { containers: [container], ...spec } },
  below === undefined ? {} : { below },
]
const service = (shape: string, spec: Body): ShapeRow => [
  'api/v1',
  'services',
  'Service',
  shape,
  { spec: { selector: labels, ports: [{ name: 'p', port: 80 }], ...spec } },
]
const volume = (source: string, body: Body): ShapeRow => [
  'api/v1',
  'persistentvolumes',
  'PersistentVolume',
  source,
  { spec: { accessModes, capacity: { storage: '1Gi' }, [source]: body } },
  { below: [`spec.${source}`, 'spec.nodeAffinity', 'spec.volumeMode'] },
]
const autoscaler = (version: string, shape: string, metric: Body, behavior?: Body): ShapeRow => [
  `apis/autoscaling/${version}`,
  'horizontalpodautoscalers',
  'HorizontalPodAutoscaler',
  shape,
  {
    spec: {
      maxReplicas: 3,
      scaleTargetRef: reference,
      metrics: [metric],
      ...(behavior !== undefined && { behavior }),
    },
  },
]
const webhooks = (kind: string, more: Body): ShapeRow => [
  'apis/admissionregistration.k8s.io/v1',
  `${kind.toLowerCase()}s`,
  kind,
  'service',
  { webhooks: [{ ...webhook, ...more }] },
]

const pods: readonly ShapeRow[] = [
  pod('plain', {}),
  pod(
    'placed',
    {
      nodeSelector: { a: 'b' },
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: expressions }],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: expressions } },
          ],
        },
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }],
        },
      },
      tolerations: [{ key: 'a', operator: 'Equal', value: 'b', effect: 'NoSchedule' }],
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    },
    ['spec.affinity', 'spec.tolerations', 'spec.topologySpreadConstraints', 'spec.nodeSelector'],
  ),
  pod(
    'host',
    {
      hostNetwork: true,
      containers: [{ ...container, ports: [{ containerPort: 80, hostPort: 80 }] }],
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['1.2.3.4'], options: [{ name: 'a', value: 'b' }] },
      hostAliases: [{ ip: '1.2.3.4', hostnames: ['a'] }],
    },
    ['spec.hostNetwork', 'spec.dnsConfig', 'spec.dnsPolicy', 'spec.containers.ports'],
  ),
  pod(
    'claims',
    {
      containers: [{ ...container, volumeDevices: [{ name: 'v', devicePath: '/v' }] }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'p' } }],
    },
    ['spec.volumes.persistentVolumeClaim', 'spec.containers.volume'],
  ),
  pod(
    'ephemeral',
    {
      containers: [{ ...container, volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
      volumes: [
        {
          name: 'v',
          ephemeral: { volumeClaimTemplate: { spec: { accessModes, resources: storage } } },
        },
      ],
    },
    ['spec.volumes.ephemeral', 'spec.containers.volumeMounts'],
  ),
  pod(
    'projected',
    {
      volumes: [
        {
          name: 'v',
          projected: {
            sources: [
              { downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] } },
            ],
          },
        },
      ],
    },
    ['spec.volumes.projected'],
  ),
  pod(
    'probed',
    {
      containers: [
        {
          ...container,
          ports: [{ name: 'http', containerPort: 80 }],
          livenessProbe: { httpGet: { port: 'http', path: '/x' }, periodSeconds: 3 },
          readinessProbe: { tcpSocket: { port: 80 } },
          startupProbe: { exec: { command: ['a'] } },
          lifecycle: { preStop: { exec: { command: ['a'] } } },
        },
      ],
    },
    [
      'spec.containers.livenessProbe',
      'spec.containers.readinessProbe',
      'spec.containers.startupProbe',
      'spec.containers.lifecycle',
      'spec.terminationGracePeriodSeconds',
    ],
  ),
  pod(
    'limited',
    {
      containers: [
        {
          ...container,
          resources: {
            limits: { cpu: '1', memory: '1Gi', 'hugepages-2Mi': '4Mi', 'example.com/gpu': '1' },
            requests: { cpu: '1', memory: '1Gi' },
          },
        },
      ],
    },
    ['spec.containers.resources', 'spec.overhead'],
  ),
]

const services: readonly ShapeRow[] = [
  service('plain', {}),
  service('headless', { clusterIP: 'None' }),
  service('ports', { type: 'NodePort' }),
  service('balanced', {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    sessionAffinity: 'ClientIP',
  }),
  service('elsewhere', { type: 'ExternalName', externalName: 'a.b', ports: [] }),
]

const volumes: readonly ShapeRow[] = [
  volume('gcePersistentDisk', { pdName: 'p' }),
  volume('awsElasticBlockStore', { volumeID: 'v' }),
  volume('glusterfs', { endpoints: 'e', path: 'p' }),
  volume('nfs', { server: 's', path: '/p' }),
  volume('rbd', { monitors: ['m'], image: 'i' }),
  volume('iscsi', { targetPortal: 't', iqn: 'iqn.2001-04.com.example:a', lun: 1 }),
  volume('cinder', { volumeID: 'v' }),
  volume('cephfs', { monitors: ['m'] }),
  volume('fc', { targetWWNs: ['w'], lun: 1 }),
  volume('flocker', { datasetName: 'd' }),
  volume('flexVolume', { driver: 'a/b' }),
  volume('azureFile', { secretName: 's', shareName: 'h', secretNamespace: 'n' }),
  volume('vsphereVolume', { volumePath: '[a] b' }),
  volume('quobyte', { registry: 'a:1', volume: 'v' }),
  volume('azureDisk', { diskName: 'd', diskURI: 'https://a.b' }),
  volume('photonPersistentDisk', { pdID: 'p' }),
  volume('portworxVolume', { volumeID: 'v' }),
  volume('scaleIO', {
    gateway: 'g',
    system: 's',
    volumeName: 'v',
    secretRef: { name: 's', namespace: 'n' },
  }),
  volume('storageos', { volumeName: 'v', volumeNamespace: 'n' }),
  volume('csi', { driver: 'a.b', volumeHandle: 'h' }),
  [
    'api/v1',
    'persistentvolumes',
    'PersistentVolume',
    'local',
    {
      spec: {
        accessModes,
        capacity: { storage: '1Gi' },
        local: { path: '/x' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: expressions }] } },
      },
    },
    { below: ['spec.local', 'spec.nodeAffinity'] },
  ],
]

const stableEvent = {
  regarding: { namespace: '{id}' },
  eventTime: '2020-01-02T03:04:05.000000Z',
  reportingController: 'a.b/c',
  reportingInstance: 'i',
  action: 'a',
  reason: 'r',
  type: 'Normal',
}

const others: readonly ShapeRow[] = [
  ['api/v1', 'events', 'Event', 'core', { involvedObject: { namespace: '{id}' }, reason: 'r' }],
  ['apis/events.k8s.io/v1', 'events', 'Event', 'new', stableEvent],
  ['apis/events.k8s.io/v1beta1', 'events', 'Event', 'beta', stableEvent],
  [
    'apis/apps/v1',
    'controllerrevisions',
    'ControllerRevision',
    'plain',
    { data: { a: 1 }, revision: 1 },
  ],
  [
    'apis/apps/v1',
    'statefulsets',
    'StatefulSet',
    'claims',
    {
      spec: {
        serviceName: 's',
        selector,
        template,
        volumeClaimTemplates: [
          { metadata: { name: 'v' }, spec: { accessModes, resources: storage } },
        ],
      },
    },
    { without: ['spec.template'] },
  ],
  [
    'apis/batch/v1',
    'jobs',
    'Job',
    'indexed',
    { spec: { completionMode: 'Indexed', completions: 2, suspend: true, template: jobTemplate } },
    { without: ['spec.template'] },
  ],
  [
    'apis/batch/v1beta1',
    'cronjobs',
    'CronJob',
    'beta',
    { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobTemplate } } } },
    { without: ['spec.jobTemplate.spec.template'] },
  ],
  [
    'apis/autoscaling/v1',
    'horizontalpodautoscalers',
    'HorizontalPodAutoscaler',
    'v1',
    { spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 50, scaleTargetRef: reference } },
  ],
  autoscaler('v2beta1', 'pods', {
    type: 'Pods',
    pods: { metricName: 'm', targetAverageValue: '1' },
  }),
  autoscaler('v2beta1', 'object', {
    type: 'Object',
    object: { metricName: 'm', targetValue: '1', target: reference },
  }),
  autoscaler('v2beta1', 'external', {
    type: 'External',
    external: { metricName: 'm', targetValue: '1' },
  }),
  autoscaler('v2beta1', 'resource', {
    type: 'Resource',
    resource: { name: 'cpu', targetAverageUtilization: 50 },
  }),
  autoscaler('v2beta2', 'pods', {
    type: 'Pods',
    pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } },
  }),
  autoscaler('v2beta2', 'object', {
    type: 'Object',
    object: {
      metric: { name: 'm', selector },
      target: { type: 'Value', value: '1' },
      describedObject: reference,
    },
  }),
  autoscaler(
    'v2beta2',
    'external',
    {
      type: 'External',
      external: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } },
    },
    { scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 5 }] } },
  ),
  [
    'apis/policy/v1beta1',
    'poddisruptionbudgets',
    'PodDisruptionBudget',
    'beta',
    { spec: { maxUnavailable: '25%', selector } },
  ],
  [
    'apis/networking.k8s.io/v1',
    'networkpolicies',
    'NetworkPolicy',
    'out',
    {
      spec: {
        podSelector: {},
        policyTypes: ['Egress'],
        egress: [
          {
            to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
            ports: [{ port: 80, endPort: 90 }],
          },
        ],
      },
    },
  ],
  [
    'apis/networking.k8s.io/v1',
    'ingresses',
    'Ingress',
    'resource',
    {
      spec: {
        ingressClassName: 'a',
        rules: [
          {
            http: {
              paths: [
                {
                  pathType: 'ImplementationSpecific',
                  backend: { resource: { apiGroup: 'a.b', kind: 'K', name: 'n' } },
                },
                { pathType: 'Exact', path: '/x', backend },
              ],
            },
          },
        ],
      },
    },
  ],
  [
    'apis/discovery.k8s.io/v1beta1',
    'endpointslices',
    'EndpointSlice',
    'beta',
    {
      addressType: 'FQDN',
      endpoints: [{ addresses: ['a.b'], topology: { a: 'b' } }],
      ports: [{ port: 80 }],
    },
  ],
  [
    'apis/storage.k8s.io/v1beta1',
    'csistoragecapacities',
    'CSIStorageCapacity',
    'plain',
    { storageClassName: 's', capacity: '1Gi', nodeTopology: selector },
  ],
]

const clusterWide: readonly ShapeRow[] = [
  ...volumes,
  ['api/v1', 'namespaces', 'Namespace', 'plain', { spec: { finalizers: ['a.b/c'] } }],
  [
    'apis/policy/v1beta1',
    'podsecuritypolicies',
    'PodSecurityPolicy',
    'plain',
    {
      spec: {
        seLinux: { rule: 'RunAsAny' },
        runAsUser: { rule: 'RunAsAny' },
        runAsGroup: { rule: 'MustRunAs', ranges: [{ min: 1, max: 2 }] },
        supplementalGroups: { rule: 'RunAsAny' },
        fsGroup: { rule: 'RunAsAny' },
        hostPorts: [{ min: 1, max: 2 }],
        allowedHostPaths: [{ pathPrefix: '/x' }],
        allowedFlexVolumes: [{ driver: 'a/b' }],
        allowedCSIDrivers: [{ name: 'a.b' }],
        runtimeClass: { allowedRuntimeClassNames: ['a'] },
        volumes: ['*'],
      },
    },
  ],
  [
    'apis/certificates.k8s.io/v1',
    'certificatesigningrequests',
    'CertificateSigningRequest',
    'plain',
    { spec: { request: certificateRequest, signerName: 'a.b/c', usages: ['client auth'] } },
  ],
  [
    'apis/storage.k8s.io/v1beta1',
    'csidrivers',
    'CSIDriver',
    'beta',
    { spec: { podInfoOnMount: true, tokenRequests: [{ audience: 'a', expirationSeconds: 600 }] } },
  ],
  [
    'apis/storage.k8s.io/v1',
    'volumeattachments',
    'VolumeAttachment',
    'inline',
    {
      spec: {
        attacher: 'a',
        nodeName: 'n',
        source: {
          inlineVolumeSpec: {
            accessModes,
            capacity: { storage: '1Gi' },
            csi: { driver: 'a.b', volumeHandle: 'h' },
          },
        },
      },
    },
    { below: ['spec'] },
  ],
  [
    'apis/flowcontrol.apiserver.k8s.io/v1beta1',
    'prioritylevelconfigurations',
    'PriorityLevelConfiguration',
    'queued',
    {
      spec: {
        type: 'Limited',
        limited: {
          assuredConcurrencyShares: 5,
          limitResponse: {
            type: 'Queue',
            queuing: { queues: 8, handSize: 2, queueLengthLimit: 5 },
          },
        },
      },
    },
  ],
  [
    'apis/flowcontrol.apiserver.k8s.io/v1beta1',
    'flowschemas',
    'FlowSchema',
    'ruled',
    {
      spec: {
        priorityLevelConfiguration: { name: 'exempt' },
        matchingPrecedence: 9000,
        distinguisherMethod: { type: 'ByUser' },
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: '{id}' } }],
            resourceRules: [
              { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['a'] },
            ],
            nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
          },
        ],
      },
    },
  ],
  webhooks('ValidatingWebhookConfiguration', {}),
  webhooks('MutatingWebhookConfiguration', { reinvocationPolicy: 'Never' }),
  [
    `apis/${ofRoles}/v1`,
    'clusterrolebindings',
    'ClusterRoleBinding',
    'plain',
    {
      roleRef: { apiGroup: ofRoles, kind: 'ClusterRole', name: 'r' },
      subjects: [{ kind: 'ServiceAccount', name: 's', namespace: 'n' }],
    },
  ],
  [
    `apis/${ofRoles}/v1`,
    'clusterroles',
    'ClusterRole',
    'gathering',
    {
      aggregationRule: { clusterRoleSelectors: [selector] },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: ['a'] }],
    },
  ],
  [
    'apis/apiregistration.k8s.io/v1',
    'apiservices',
    'APIService',
    'plain',
    {
      spec: {
        group: '{id}.x',
        version: 'v1',
        service: { name: 's', namespace: 'n' },
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        insecureSkipTLSVerify: true,
      },
    },
    { meta: { name: 'v1.{id}.x' } },
  ],
]

const walkedOf =
  (namespaced: boolean) =>
  (row: ShapeRow): WalkedObject => {
    const [at, plural, kind, shape, body, more = {}] = row
    const name = namespaced ? 'x' : '{id}-x'
    return {
      at,
      plural,
      namespaced,
      shape,
      object: {
        apiVersion: at.replace(/^apis?\//, ''),
        kind,
        metadata: { name, labels, ...more.meta },
        ...body,
      },
      since: more.since ?? 0,
      below: more.below ?? [],
      without: more.without ?? [],
    }
  }

/** Kinds of the samples that stand here in better shapes. */
const better = new Set(['pods', 'services'])

export const walkedObjectsOf = (release: number): readonly WalkedObject[] =>
  [
    ...samplesOf(release)
      .filter(({ plural }) => !better.has(plural))
      .map((sample) => ({
        ...sample,
        shape: 'sample',
        since: 0,
        below: [],
        without: ['spec.template.spec', 'template.spec', 'spec.jobTemplate.spec.template.spec'],
      })),
    ...[...pods, ...services, ...others, ...newerShapes].map(walkedOf(true)),
    ...[...clusterWide, ...newerClusterWideShapes].map(walkedOf(false)),
  ].filter(
    ({ object, since }) =>
      release >= since && hasKind(object.apiVersion as string, object.kind as string, release),
  )

export const walkedObjects = walkedObjectsOf(comparedRelease)
