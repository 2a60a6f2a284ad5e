/**
 * Shapes of objects that came after 1.22, for the walk over all fields: pods with sidecars, claims
 * and gates, jobs with policies, devices. `since` is the release from which the shape has rules of
 * its own.
 */
import type { Json } from '#api/object-meta.ts'

type Body = { [key: string]: Json }

interface More {
  readonly below?: readonly string[]
  readonly without?: readonly string[]
  readonly meta?: Body
  readonly since?: number
}

export type ShapeRow = readonly [
  at: string,
  plural: string,
  kind: string,
  shape: string,
  body: Body,
  more?: More,
]

const labels = { app: 'web' }
const selector = { matchLabels: labels }
const container = { name: 'c', image: 'nginx:1' }
const jobTemplate: Body = {
  metadata: { labels },
  spec: { containers: [container], restartPolicy: 'Never' },
}
const reference = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }
const mounts = [{ name: 'v', mountPath: '/v' }]

const pod = (since: number, shape: string, spec: Body, below: readonly string[]): ShapeRow => [
  'api/v1',
  'pods',
  'Pod',
  shape,
  { spec: { containers: [container], ...spec } },
  { below, since },
]
const job = (since: number, shape: string, spec: Body): ShapeRow => [
  'apis/batch/v1',
  'jobs',
  'Job',
  shape,
  { spec: { template: jobTemplate, suspend: true, ...spec } },
  // A deleted job waits for the garbage collector: each shape has a name of its own.
  { without: ['spec.template'], since, meta: { name: shape } },
]
const autoscaler = (shape: string, metric: Body, behavior?: Body): ShapeRow => [
  'apis/autoscaling/v2',
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
const average = { type: 'AverageValue', averageValue: '1' }

export const newerShapes: readonly ShapeRow[] = [
  pod(
    28,
    'sidecars',
    {
      initContainers: [
        {
          name: 'i',
          image: 'nginx:1',
          restartPolicy: 'Always',
          startupProbe: { tcpSocket: { port: 80 } },
        },
      ],
    },
    ['spec.initContainers'],
  ),
  pod(27, 'gated', { schedulingGates: [{ name: 'a.b/c' }] }, [
    'spec.schedulingGates',
    'spec.nodeSelector',
    'spec.tolerations',
    'spec.affinity',
    'spec.nodeName',
  ]),
  pod(
    34,
    'sized',
    {
      resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } },
    },
    ['spec.resources', 'spec.containers.resources', 'spec.overhead'],
  ),
  pod(
    34,
    'devices',
    {
      containers: [{ ...container, resources: { claims: [{ name: 'r' }] } }],
      resourceClaims: [{ name: 'r', resourceClaimTemplateName: 't' }],
    },
    ['spec.resourceClaims', 'spec.containers.resources'],
  ),
  pod(25, 'windows', { os: { name: 'windows' } }, [
    'spec.os',
    'spec.securityContext',
    'spec.containers.securityContext',
    'spec.hostUsers',
    'spec.hostPID',
    'spec.hostNetwork',
  ]),
  pod(33, 'users', { hostUsers: false, os: { name: 'linux' } }, [
    'spec.hostUsers',
    'spec.securityContext',
    'spec.containers.securityContext',
    'spec.containers.volumeMounts',
    'spec.hostPID',
    'spec.hostIPC',
    'spec.hostNetwork',
    'spec.os',
  ]),
  pod(
    33,
    'image',
    {
      containers: [{ ...container, volumeMounts: mounts }],
      volumes: [{ name: 'v', image: { reference: 'a.b/c:1' } }],
    },
    ['spec.volumes.image', 'spec.containers.volumeMounts'],
  ),
  pod(
    33,
    'trusting',
    {
      volumes: [
        {
          name: 'v',
          projected: {
            sources: [
              { clusterTrustBundle: { signerName: 'a.b/c', path: 'p', labelSelector: {} } },
            ],
          },
        },
      ],
    },
    ['spec.volumes.projected'],
  ),
  pod(
    35,
    'certified',
    {
      volumes: [
        {
          name: 'v',
          projected: {
            sources: [
              {
                podCertificate: {
                  signerName: 'a.b/c',
                  keyType: 'ED25519',
                  credentialBundlePath: 'p',
                },
              },
            ],
          },
        },
      ],
    },
    ['spec.volumes.projected'],
  ),
  pod(
    30,
    'called',
    {
      os: { name: 'linux' },
      containers: [
        {
          ...container,
          livenessProbe: { grpc: { port: 80 } },
          lifecycle: { preStop: { sleep: { seconds: 1 } } },
        },
      ],
    },
    ['spec.containers.livenessProbe', 'spec.containers.lifecycle'],
  ),
  pod(
    35,
    'restarting',
    {
      containers: [
        {
          ...container,
          restartPolicy: 'Never',
          restartPolicyRules: [
            { action: 'Restart', exitCodes: { operator: 'In', values: [1, 2] } },
          ],
          resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
        },
      ],
    },
    [
      'spec.restartPolicy',
      'spec.containers.restartPolicy',
      'spec.containers.restartPolicyRules',
      'spec.containers.resizePolicy',
    ],
  ),
  job(26, 'failing', {
    backoffLimit: 3,
    podReplacementPolicy: 'Failed',
    podFailurePolicy: {
      rules: [
        { action: 'FailJob', onExitCodes: { operator: 'In', values: [1, 2], containerName: 'c' } },
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
      ],
    },
  }),
  job(31, 'succeeding', {
    completionMode: 'Indexed',
    completions: 6,
    parallelism: 2,
    backoffLimitPerIndex: 1,
    maxFailedIndexes: 3,
    successPolicy: { rules: [{ succeededIndexes: '0-2', succeededCount: 1 }] },
  }),
  autoscaler('pods', { type: 'Pods', pods: { metric: { name: 'm' }, target: average } }),
  autoscaler('object', {
    type: 'Object',
    object: {
      metric: { name: 'm', selector },
      target: { type: 'Value', value: '1' },
      describedObject: reference,
    },
  }),
  autoscaler(
    'external',
    { type: 'External', external: { metric: { name: 'm' }, target: average } },
    { scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 5 }] } },
  ),
  autoscaler('container', {
    type: 'ContainerResource',
    containerResource: {
      name: 'cpu',
      container: 'c',
      target: { type: 'Utilization', averageUtilization: 50 },
    },
  }),
  [
    'apis/storage.k8s.io/v1',
    'csistoragecapacities',
    'CSIStorageCapacity',
    'plain',
    { storageClassName: 's', capacity: '1Gi', nodeTopology: selector },
  ],
  [
    'apis/resource.k8s.io/v1',
    'resourceclaims',
    'ResourceClaim',
    'alternatives',
    {
      spec: {
        devices: {
          requests: [
            {
              name: 'r',
              firstAvailable: [
                { name: 's', deviceClassName: 'c', count: 2 },
                { name: 't', deviceClassName: 'd', allocationMode: 'All' },
              ],
            },
          ],
          constraints: [{ requests: ['r'], matchAttribute: 'a.b/c' }],
          config: [{ requests: ['r'], opaque: { driver: 'a.b', parameters: { a: 1 } } }],
        },
      },
    },
  ],
]

const slice = (shape: string, spec: Body): ShapeRow => [
  'apis/resource.k8s.io/v1',
  'resourceslices',
  'ResourceSlice',
  shape,
  {
    spec: { driver: 'a.b', pool: { name: 'p', generation: 1, resourceSliceCount: 2 }, ...spec },
  },
]

export const newerClusterWideShapes: readonly ShapeRow[] = [
  [
    'api/v1',
    'persistentvolumes',
    'PersistentVolume',
    'attributes',
    {
      spec: {
        accessModes: ['ReadWriteOncePod'],
        capacity: { storage: '1Gi' },
        csi: { driver: 'a.b', volumeHandle: 'h' },
        volumeAttributesClassName: 'a',
      },
    },
    { below: ['spec.volumeAttributesClassName', 'spec.accessModes'], since: 31 },
  ],
  [
    'apis/storage.k8s.io/v1',
    'volumeattachments',
    'VolumeAttachment',
    'inlineSource',
    {
      spec: {
        attacher: 'a',
        nodeName: 'n',
        source: {
          inlineVolumeSpec: {
            accessModes: ['ReadWriteOnce'],
            csi: { driver: 'a.b', volumeHandle: 'h' },
          },
        },
      },
    },
    { below: ['spec.source.inlineVolumeSpec'], since: 28 },
  ],
  slice('counting', {
    allNodes: true,
    sharedCounters: [{ name: 's', counters: { m: { value: '1Gi' } } }],
  }),
  slice('placed', {
    perDeviceNodeSelection: true,
    devices: [
      {
        name: 'd',
        allNodes: true,
        consumesCounters: [{ counterSet: 's', counters: { m: { value: '1' } } }],
        taints: [{ key: 'a', effect: 'NoExecute' }],
        attributes: { a: { version: '1.2.3' }, 'a.b/c': { int: 1 } },
      },
    ],
  }),
  [
    'apis/flowcontrol.apiserver.k8s.io/v1',
    'prioritylevelconfigurations',
    'PriorityLevelConfiguration',
    'queued',
    {
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: 5,
          lendablePercent: 50,
          borrowingLimitPercent: 10,
          limitResponse: {
            type: 'Queue',
            queuing: { queues: 8, handSize: 2, queueLengthLimit: 5 },
          },
        },
      },
    },
  ],
  [
    'apis/flowcontrol.apiserver.k8s.io/v1',
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
  [
    'apis/admissionregistration.k8s.io/v1',
    'validatingadmissionpolicies',
    'ValidatingAdmissionPolicy',
    'whole',
    {
      spec: {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['apps'],
              apiVersions: ['v1'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['controllerrevisions'],
              resourceNames: ['none'],
            },
          ],
          namespaceSelector: { matchLabels: { no: 'where' } },
        },
        matchConditions: [{ name: 'a', expression: 'request.name == "none"' }],
        variables: [{ name: 'v', expression: 'object.metadata.name' }],
        validations: [
          { expression: 'variables.v != "x"', messageExpression: 'string(variables.v)' },
        ],
        auditAnnotations: [{ key: 'k', valueExpression: 'string(variables.v)' }],
        failurePolicy: 'Ignore',
      },
    },
  ],
  [
    'apis/admissionregistration.k8s.io/v1',
    'validatingadmissionpolicybindings',
    'ValidatingAdmissionPolicyBinding',
    'parameters',
    {
      spec: {
        policyName: 'none',
        validationActions: ['Warn', 'Audit'],
        paramRef: { name: 'p', namespace: 'n', parameterNotFoundAction: 'Deny' },
      },
    },
  ],
  [
    'apis/admissionregistration.k8s.io/v1',
    'mutatingadmissionpolicies',
    'MutatingAdmissionPolicy',
    'patches',
    {
      spec: {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['apps'],
              apiVersions: ['v1'],
              operations: ['CREATE'],
              resources: ['controllerrevisions'],
            },
          ],
          namespaceSelector: { matchLabels: { no: 'where' } },
        },
        matchConditions: [{ name: 'a', expression: 'request.name == "none"' }],
        variables: [{ name: 'v', expression: '"x"' }],
        mutations: [
          {
            patchType: 'JSONPatch',
            jsonPatch: {
              expression: '[JSONPatch{op: "add", path: "/metadata/labels/a", value: variables.v}]',
            },
          },
        ],
        failurePolicy: 'Ignore',
        reinvocationPolicy: 'IfNeeded',
      },
    },
  ],
]
