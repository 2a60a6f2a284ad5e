import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import { podBehaviour } from './behaviour.ts'
import { container, contextOf, linesOf, podOf } from '#kinds/pod-template/pods.suite.ts'

const create = (object: KubeObject, ...gates: string[]) =>
  linesOf(podBehaviour.validateCreate?.(object, contextOf({}, ...gates)) ?? [])
const update = (next: KubeObject, old: KubeObject) =>
  linesOf(podBehaviour.validateUpdate?.(next, old, contextOf()) ?? [])

const withContainer = (changes: Loose) => ({ containers: [container(changes)] })
const withVolume = (source: Loose) => ({ volumes: [{ name: 'v', ...source }] })
const withProbe = (probe: Loose) =>
  withContainer({ livenessProbe: { successThreshold: 1, ...probe } })
const at = 'spec.containers[0]'
const ofClaim = 'spec.volumes[0].ephemeral.volumeClaimTemplate'
const withEmpty = (holder: Loose, field: string): Loose => {
  rememberEmpty(holder, field)
  return holder
}

const created: [string, Loose, string[]][] = [
  ['nothing wrong', {}, []],
  ['no containers', { containers: null }, ['spec.containers: Required value']],
  [
    'options of other people’s names',
    withVolume({
      flexVolume: {
        driver: 'd',
        options: { 'A.k8s.io/x': '', 'kubernetes.io/x': '', 'k8s.io.b/x': '' },
      },
    }),
    ['A.k8s.io/x', 'kubernetes.io/x'].map(
      (key) =>
        `spec.volumes[0].flexVolume.options[${key}]: Invalid value: "${key}": kubernetes.io and k8s.io namespaces are reserved`,
    ),
  ],
  ['a container without image', withContainer({ image: '' }), [`${at}.image: Required value`]],
  [
    'containers of one name',
    { containers: [container(), container()] },
    ['spec.containers[1].name: Duplicate value: "a"'],
  ],
  [
    'an init container of the same name',
    { initContainers: [container()] },
    ['spec.initContainers[0].name: Duplicate value: "a"'],
  ],
  [
    'an image with spaces around',
    withContainer({ image: ' nginx' }),
    [`${at}.image: Invalid value: " nginx": must not have leading or trailing whitespace`],
  ],
  [
    'ports',
    withContainer({
      ports: [
        { containerPort: 0, protocol: 'TCP' },
        { containerPort: 70000, protocol: 'x', name: 'A' },
        { containerPort: 1, hostPort: 2, protocol: 'TCP' },
        { containerPort: 1, hostPort: 2, protocol: 'TCP' },
      ],
    }),
    [
      `${at}.ports[0].containerPort: Required value`,
      `${at}.ports[1].name: Invalid value: "A"`,
      `${at}.ports[1].name: Invalid value: "A": must contain at least one letter (a-z)`,
      `${at}.ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`,
      `${at}.ports[1].protocol: Unsupported value: "x": supported values: "SCTP", "TCP", "UDP"`,
      `${at}.ports[3].hostPort: Duplicate value: "TCP//2"`,
    ],
  ],
  [
    'environment variables',
    withContainer({
      env: [
        { name: '' },
        { name: 'A', valueFrom: {} },
        { name: 'B', value: 'x', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        { name: 'C', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.x' } } },
        { name: 'D', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.phase' } } },
        { name: 'E', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } },
      ],
    }),
    [
      `${at}.env[0].name: Required value`,
      `${at}.env[1].valueFrom: Invalid value: "": must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\` or \`secretKeyRef\``,
      `${at}.env[2].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`,
      `${at}.env[3].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x`,
      `${at}.env[4].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.podIP", "status.podIPs"`,
      `${at}.env[5].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
    ],
  ],
  [
    'a probe without handler',
    withProbe({}),
    [`${at}.livenessProbe: Required value: must specify a handler type`],
  ],
  [
    'a probe with two handlers',
    withProbe({ exec: { command: ['x'] }, tcpSocket: { port: 1 } }),
    [`${at}.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`],
  ],
  [
    'a liveness probe that must succeed twice',
    withProbe({ tcpSocket: { port: 'http' }, successThreshold: 2, periodSeconds: -1 }),
    [
      `${at}.livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0`,
      `${at}.livenessProbe.successThreshold: Invalid value: 2: must be 1`,
    ],
  ],
  [
    'resources',
    withContainer({
      resources: {
        limits: { cpu: '1', 'hugepages-2Mi': '3Mi', x: '1' },
        requests: { cpu: '2', 'example.com/gpu': '500m' },
      },
    }),
    [
      `${at}.resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
      `${at}.resources.limits[x]: Invalid value: "x": must be a standard resource type or fully qualified`,
      `${at}.resources.limits[x]: Invalid value: "x": must be a standard resource for containers`,
      `${at}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit`,
      `${at}.resources.requests[example.com/gpu]: Invalid value: resource.Quantity{i:resource.int64Amount{value:500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"500m", Format:"DecimalSI"}: must be an integer`,
      `${at}.resources.limits: Required value: Limit must be set for non overcommitable resources`,
    ],
  ],
  [
    'a volume without source',
    withVolume({}),
    ['spec.volumes[0]: Required value: must specify a volume type'],
  ],
  [
    'a volume with two sources',
    withVolume({ emptyDir: {}, cephfs: { monitors: ['x'] } }),
    ['spec.volumes[0].cephFS: Forbidden: may not specify more than 1 volume type'],
  ],
  [
    'a template of a claim with more metadata than labels and annotations, and two sources',
    {
      volumes: [
        {
          name: 'v',
          ephemeral: {
            volumeClaimTemplate: {
              metadata: withEmpty({ deletionGracePeriodSeconds: 0, generation: 0 }, 'finalizers'),
              spec: {
                accessModes: ['ReadWriteOnce'],
                resources: { requests: { storage: '1' } },
                dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
                dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
              },
            },
          },
        },
      ],
    },
    [
      `${ofClaim}.metadata.deletionGracePeriodSeconds: Forbidden: cannot be set for an ephemeral volume`,
      `${ofClaim}.metadata.finalizers: Forbidden: cannot be set for an ephemeral volume`,
      `${ofClaim}.spec: Invalid value: field.Path{name:"dataSource", index:"", parent:(*field.Path)(0xc000000000)}: must match dataSourceRef`,
    ],
  ],
  [
    'volumes with something missing',
    {
      volumes: [
        { name: 'a', hostPath: { path: 'a/../b', type: 'x' } },
        { name: 'b', gcePersistentDisk: { pdName: '', partition: 256 } },
        { name: 'c', secret: { secretName: '', defaultMode: 512 } },
        { name: 'd', iscsi: { targetPortal: 'p', iqn: 'x', lun: 300 } },
        { name: 'e', csi: { driver: 'd', nodePublishSecretRef: {} } },
        {
          name: 'f',
          projected: { sources: [{ secret: { name: 's', items: [{ key: 'k', path: '..' }] } }] },
        },
        { name: 'g', ephemeral: {} },
      ],
    },
    [
      `spec.volumes[0].hostPath.path: Invalid value: "a/../b": must not contain '..'`,
      'spec.volumes[0].hostPath.type: Unsupported value: "x": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      'spec.volumes[1].persistentDisk.pdName: Required value',
      'spec.volumes[1].persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive',
      'spec.volumes[2].secret.secretName: Required value',
      'spec.volumes[2].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive',
      'spec.volumes[3].iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
      'spec.volumes[3].iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive',
      'spec.volumes[4].csi.nodePublishSecretRef .name: Required value',
      `spec.volumes[5].projected.sources[0].secret.items[0].path: Invalid value: "..": must not contain '..'`,
      `spec.volumes[5].projected.sources[0].secret.items[0].path: Invalid value: "..": must not start with '..'`,
      'spec.volumes[6].ephemeral.volumeClaimTemplate: Required value',
    ],
  ],
  [
    'mounts and devices',
    {
      ...withVolume({ emptyDir: {} }),
      ...withContainer({
        volumeMounts: [
          { name: 'v', mountPath: '/a' },
          { name: 'w', mountPath: '/a', mountPropagation: 'Bidirectional' },
        ],
        volumeDevices: [{ name: 'v', devicePath: '/dev/x' }],
      }),
    },
    [
      `${at}.volumeMounts[0].name: Invalid value: "v": must not already exist in volumeDevices`,
      `${at}.volumeMounts[1].name: Not found: "w"`,
      `${at}.volumeMounts[1].mountPath: Invalid value: "/a": must be unique`,
      `${at}.volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`,
      `${at}.volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim for block mode`,
      `${at}.volumeDevices[0].name: Invalid value: "v": must not already exist in volumeMounts`,
    ],
  ],
  [
    'tolerations',
    {
      tolerations: [
        { operator: 'Equal' },
        { key: 'a', operator: 'Exists', value: 'x' },
        { key: 'a', effect: 'x', tolerationSeconds: 1 },
      ],
    },
    [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      'spec.tolerations[1].operator: Invalid value: core.Toleration{Key:"a", Operator:"Exists", Value:"x", Effect:"", TolerationSeconds:(*int64)(nil)}: value must be empty when `operator` is \'Exists\'',
      'spec.tolerations[2].effect: Invalid value: "x": effect must be \'NoExecute\' when `tolerationSeconds` is set',
      'spec.tolerations[2].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
  ],
  [
    'spreading',
    {
      topologySpreadConstraints: [
        { maxSkew: 0, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
        { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    },
    [
      'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
      'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"',
    ],
  ],
  [
    'affinity',
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: null },
        },
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 0, podAffinityTerm: { topologyKey: 'z' } },
          ],
        },
      },
    },
    [
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term',
      'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100',
    ],
  ],
  [
    'DNS',
    { dnsPolicy: 'None', dnsConfig: { nameservers: ['1.2.3', '1.1.1.1'], options: [{}] } },
    [
      'spec.dnsConfig.nameservers[0]: Invalid value: "1.2.3": must be valid IP address',
      'spec.dnsConfig.options[0]: Required value: must not be empty',
    ],
  ],
  [
    'a security context',
    {
      hostPID: true,
      shareProcessNamespace: true,
      securityContext: {
        runAsUser: -1,
        sysctls: [{ name: 'A' }],
        seccompProfile: { type: 'Localhost' },
      },
      ...withContainer({
        securityContext: { procMount: 'x', windowsOptions: { runAsUserName: '' } },
      }),
    },
    [
      `${at}.securityContext.procMount: Unsupported value: "x": supported values: "Default", "Unmasked"`,
      `${at}.securityContext.windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string`,
      'spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
      'spec.securityContext.sysctls[0].name: Invalid value: "A": must have at most 253 characters and match regex ([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*[a-z0-9]([-_a-z0-9]*[a-z0-9])?',
      'spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
    ],
  ],
  [
    'a token without account',
    {
      serviceAccountName: '',
      ...withVolume({
        projected: { sources: [{ serviceAccountToken: { path: 'x', expirationSeconds: 60 } }] },
      }),
    },
    [
      'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
      'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
    ],
  ],
]
for (const [what, spec, expected] of created) {
  test(`created with ${what}`, () => assert.deepEqual(create(podOf(spec)), expected))
}

const annotated: [Record<string, string>, string[]][] = [
  [{ 'controller.kubernetes.io/pod-deletion-cost': '10' }, []],
  [
    { 'controller.kubernetes.io/pod-deletion-cost': '+10' },
    [
      'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+10": must be a 32bit integer',
    ],
  ],
  [
    { 'kubernetes.io/config.mirror': 'x' },
    [
      'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
    ],
  ],
  [
    { 'container.apparmor.security.beta.kubernetes.io/b': 'x' },
    [
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/b]: Invalid value: "b": container not found',
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/b]: Invalid value: "x": invalid AppArmor profile name: "x"',
    ],
  ],
]
for (const [annotations, expected] of annotated) {
  test(`created with annotations ${Object.keys(annotations)}`, () =>
    assert.deepEqual(create(podOf({}, annotations)), expected))
}

const forbiddenChange =
  'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to existing tolerations) or `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n  core.PodSpec{'
const updated: [string, Loose, Loose, string[]][] = [
  ['nothing', {}, {}, []],
  ['an image', withContainer({ image: 'other' }), {}, []],
  ['a structure with nothing in it', { affinity: {} }, {}, [forbiddenChange]],
  ['a list with nothing in it', { hostAliases: [] }, {}, []],
  ['tolerations, adding', { tolerations: [{ key: 'a', operator: 'Exists' }] }, {}, []],
  ['a host name', { hostname: 'h' }, {}, [forbiddenChange]],
  [
    'the number of containers',
    { containers: [container(), container({ name: 'b' })] },
    {},
    ['spec.containers: Forbidden: pod updates may not add or remove containers'],
  ],
  [
    'a deadline, to later',
    { activeDeadlineSeconds: 20 },
    { activeDeadlineSeconds: 10 },
    ['spec.activeDeadlineSeconds: Invalid value: 20: must be less than or equal to previous value'],
  ],
  [
    'a deadline that comes closer',
    { activeDeadlineSeconds: 10 },
    { activeDeadlineSeconds: 20 },
    [],
  ],
  ['a deadline that stays', { activeDeadlineSeconds: 20 }, { activeDeadlineSeconds: 20 }, []],
  [
    'a deadline, to none',
    {},
    { activeDeadlineSeconds: 10 },
    [
      'spec.activeDeadlineSeconds: Invalid value: "null": must not update from a positive integer to nil value',
    ],
  ],
  [
    'tolerations, removing',
    {},
    { tolerations: [{ key: 'a', operator: 'Exists' }] },
    [
      'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ],
  ],
  [
    'a negative grace period to one',
    { terminationGracePeriodSeconds: 1 },
    { terminationGracePeriodSeconds: -5 },
    [],
  ],
]
for (const [what, next, old, expected] of updated) {
  test(`changing ${what}`, () => {
    const lines = update(podOf(next), podOf(old)).map((line) =>
      line.replace(/(core\.PodSpec\{)[\s\S]*$/, '$1'),
    )
    assert.deepEqual(lines, expected)
  })
}

test('a new pod is Pending and has its QoS class', () => {
  const object = podOf(
    withContainer({
      resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } },
    }),
  )
  object.status = { phase: 'Running' }
  podBehaviour.prepareForCreate?.(object, contextOf())
  assert.deepEqual(object.status, { phase: 'Pending', qosClass: 'Guaranteed' })
  assert.equal(object.spec.serviceAccount, 'default')
})

test('fields of disabled features are dropped, unless the old pod has them', () => {
  const spec = {
    ephemeralContainers: [{ name: 'e', image: 'x' }],
    ...withContainer({ securityContext: { procMount: 'Unmasked' } }),
  }
  const object = podOf(structuredClone(spec))
  podBehaviour.prepareForCreate?.(object, contextOf())
  assert.equal(object.spec.ephemeralContainers, undefined)
  assert.equal(object.spec.containers[0].securityContext.procMount, 'Default')
  const changed = podOf(structuredClone(spec))
  podBehaviour.prepareForUpdate?.(changed, podOf(structuredClone(spec)), contextOf())
  assert.equal(changed.spec.ephemeralContainers.length, 1)
  assert.equal(changed.spec.containers[0].securityContext.procMount, 'Unmasked')
})

test('seccomp fields and annotations are kept consistent', () => {
  const object = podOf(
    { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
    {
      'container.seccomp.security.alpha.kubernetes.io/a': 'localhost/x',
    },
  )
  podBehaviour.prepareForCreate?.(object, contextOf())
  assert.equal(
    object.metadata.annotations?.['seccomp.security.alpha.kubernetes.io/pod'],
    'runtime/default',
  )
  assert.deepEqual(object.spec.containers[0].securityContext.seccompProfile, {
    type: 'Localhost',
    localhostProfile: 'x',
  })
})

test('only running pods get a grace period', () => {
  const grace = (object: KubeObject, asked?: number) =>
    podBehaviour.gracePeriodSeconds?.(object, asked, contextOf())
  const running = podOf({ nodeName: 'n' })
  assert.equal(grace(running), 30)
  assert.equal(grace(running, 5), 5)
  assert.equal(grace(running, -5), 1)
  assert.equal(grace(podOf()), 0)
  assert.equal(grace({ ...running, status: { phase: 'Failed' } }), 0)
})

test('selectable fields', () => {
  const object = {
    ...podOf({ nodeName: 'n' }),
    status: { phase: 'Running', podIPs: [{ ip: '10.0.0.1' }] },
  }
  assert.deepEqual(podBehaviour.selectableFields?.(object), {
    'spec.nodeName': 'n',
    'spec.host': 'n',
    'spec.hostNetwork': 'false',
    'spec.restartPolicy': 'Always',
    'spec.schedulerName': 'default-scheduler',
    'spec.serviceAccountName': 'default',
    'status.phase': 'Running',
    'status.podIP': '10.0.0.1',
    'status.podIPs': '',
    'status.nominatedNodeName': '',
  })
})

test('a status update keeps the spec, has consistent addresses, and never undoes a phase', () => {
  const status = podBehaviour.subresources?.status
  const old: KubeObject = {
    ...podOf({ restartPolicy: 'Never' }),
    status: { containerStatuses: [{ name: 'a', state: { terminated: { exitCode: 0 } } }] },
  }
  const next: KubeObject = {
    ...podOf({ hostname: 'x' }),
    status: { podIP: '10.0.0.1', containerStatuses: [{ name: 'a', state: { running: {} } }] },
  }
  status?.prepareForUpdate?.(next, old, contextOf())
  assert.deepEqual(next.spec, old.spec)
  assert.deepEqual(next.status.podIPs, [{ ip: '10.0.0.1' }])
  assert.deepEqual(linesOf(status?.validateUpdate?.(next, old, contextOf()) ?? []), [
    'status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
  ])
})

test('ephemeral containers are added and never removed', () => {
  const rules = podBehaviour.subresources?.ephemeralcontainers
  const context = contextOf({}, 'EphemeralContainers')
  const old = podOf({ ephemeralContainers: [container({ name: 'e' })] })
  const next = podOf({
    hostname: 'x',
    ephemeralContainers: [container({ name: 'f', ports: [{ containerPort: 1, protocol: 'TCP' }] })],
  })
  rules?.prepareForUpdate?.(next, old, context)
  assert.equal(next.spec.hostname, undefined)
  assert.deepEqual(linesOf(rules?.validateUpdate?.(next, old, context) ?? []), [
    'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed\n',
  ])
})

test('warnings', () => {
  const object = podOf({
    nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
    volumes: [{ name: 'v', gitRepo: { repository: 'x' } }],
    ...withContainer({
      env: [{ name: 'A' }, { name: 'A' }],
      resources: { limits: { memory: '1500m' } },
    }),
  })
  assert.deepEqual(podBehaviour.warningsOnCreate?.(object, contextOf()), [
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    'spec.volumes[0].gitRepo: deprecated in v1.11',
    'spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer',
    'spec.containers[0].env[1].name: duplicate name "A"',
  ])
  assert.deepEqual(podBehaviour.warningsOnCreate?.(object, contextOf({ release: 21 })), [])
})

for (const [release, image, generation] of [
  [32, 'other', undefined],
  [33, 'other', 2],
  [33, 'nginx', 1],
] as const) {
  test(`1.${release}: a pod whose image becomes ${image} has generation ${generation}`, () => {
    const context = { ...contextOf(), release }
    const old = podOf(withContainer({ image: 'nginx' }))
    podBehaviour.prepareForCreate?.(old, context)
    const next = podOf(withContainer({ image }))
    if (old.metadata.generation !== undefined) next.metadata.generation = old.metadata.generation
    podBehaviour.prepareForUpdate?.(next, old, context)
    assert.equal(next.metadata.generation, generation)
  })
}
