/**
 * Rules for pods on both sides of the release that changed them. A row shows the errors before and
 * since.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { podBehaviour } from '#kinds/core/pod/behaviour.ts'
import { releaseOf } from '#api/releases/change.ts'
import { defaultPodResources } from './pod-resources.ts'
import { container, contextOf, linesOf, podOf } from './pods.suite.ts'

const errorsIn = (release: number, pod: KubeObject): string[] =>
  linesOf(podBehaviour.validateCreate?.(pod, contextOf({ release })) ?? [])
const with1 = (changes: Loose): Loose => ({ containers: [container(changes)] })
const whole = { serviceAccount: 'default' }
const at = 'spec.containers[0]'

type Releases = [last: number, first: number]
type Row = [what: string, between: Releases, spec: Loose, before: string[], now: string[]]

const startup = `${at}.startupProbe`
const init = 'spec.initContainers[0]'
const probeSeconds =
  'InitialDelaySeconds:0, TimeoutSeconds:0, PeriodSeconds:0, SuccessThreshold:0, FailureThreshold:0'
const handlerOf =
  'core.Handler{Exec:(*core.ExecAction)(0xc000000000), HTTPGet:(*core.HTTPGetAction)(nil), TCPSocket:(*core.TCPSocketAction)(nil)}'
const contextFields =
  'Capabilities:(*core.Capabilities)(0xc000000000), Privileged:(*bool)(nil), SELinuxOptions:(*core.SELinuxOptions)(nil), WindowsOptions:(*core.WindowsSecurityContextOptions)(nil), RunAsUser:(*int64)(nil), RunAsGroup:(*int64)(nil), RunAsNonRoot:(*bool)(nil), ReadOnlyRootFilesystem:(*bool)(nil), AllowPrivilegeEscalation:(*bool)(0xc000000000), ProcMount:(*core.ProcMountType)(nil)'
const contradiction =
  'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'

const rows: readonly Row[] = [
  [
    'a startup probe without handler',
    [20, 21],
    with1({ startupProbe: { successThreshold: 1 } }),
    [`${startup}: Required value: must specify a handler type`],
    [
      `${startup}: Required value: must specify a handler type`,
      `${startup}: Required value: must specify a handler type`,
    ],
  ],
  [
    'a probe with a grace period of zero seconds',
    [21, 22],
    with1({
      livenessProbe: {
        exec: { command: ['x'] },
        successThreshold: 1,
        terminationGracePeriodSeconds: 0,
      },
    }),
    [],
    [`${at}.livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`],
  ],
  [
    'an init container with a probe, shown with its grace period',
    [20, 21],
    { initContainers: [container({ name: 'i', readinessProbe: { exec: { command: ['x'] } } })] },
    [
      `${init}.readinessProbe: Invalid value: core.Probe{Handler:${handlerOf}, ${probeSeconds}}: must not be set for init containers`,
    ],
    [
      `${init}.readinessProbe: Invalid value: core.Probe{Handler:${handlerOf}, ${probeSeconds}, TerminationGracePeriodSeconds:(*int64)(nil)}: must not be set for init containers`,
    ],
  ],
  [
    'a security context that contradicts itself, shown with its seccomp profile',
    [18, 19],
    with1({
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { add: ['CAP_SYS_ADMIN'] },
      },
    }),
    [
      `${at}.securityContext: Invalid value: core.SecurityContext{${contextFields}}: ${contradiction}`,
    ],
    [
      `${at}.securityContext: Invalid value: core.SecurityContext{${contextFields}, SeccompProfile:(*core.SeccompProfile)(nil)}: ${contradiction}`,
    ],
  ],
  [
    'errors of a container in one order',
    [24, 25],
    with1({ image: '', terminationMessagePolicy: 'x', livenessProbe: { successThreshold: 1 } }),
    [
      `${at}.image: Required value`,
      `${at}.livenessProbe: Required value: must specify a handler type`,
      `${at}.terminationMessagePolicy: Invalid value: "x": must be 'File' or 'FallbackToLogsOnError'`,
    ],
    [
      `${at}.image: Required value`,
      `${at}.terminationMessagePolicy: Unsupported value: "x": supported values: "File", "FallbackToLogsOnError"`,
      `${at}.livenessProbe: Required value: must specify a handler type`,
    ],
  ],
  [
    'an init container with a probe',
    [27, 28],
    { initContainers: [container({ name: 'i', livenessProbe: { exec: { command: ['x'] } } })] },
    ['spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers'],
    [
      'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
    ],
  ],
  [
    'a request above its limit',
    [26, 27],
    with1({ resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }),
    [`${at}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit`],
    [`${at}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`],
  ],
  [
    'a block device of an ephemeral volume',
    [22, 23],
    {
      volumes: [{ name: 'v', emptyDir: {} }],
      ...with1({ volumeDevices: [{ name: 'v', devicePath: '/d' }] }),
    },
    [
      `${at}.volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim for block mode`,
    ],
    [
      `${at}.volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`,
    ],
  ],
  [
    'a host port that differs',
    [27, 28],
    {
      hostNetwork: true,
      ...with1({ ports: [{ containerPort: 1, hostPort: 2, protocol: 'TCP' }] }),
    },
    [
      `${at}.ports[0].containerPort: Invalid value: 1: must match \`hostPort\` when \`hostNetwork\` is true`,
    ],
    [
      `${at}.ports[0].hostPort: Invalid value: 2: must match \`containerPort\` when \`hostNetwork\` is true`,
    ],
  ],
  [
    'a sysctl with slashes',
    [24, 25],
    { securityContext: { sysctls: [{ name: 'a/b', value: '1' }] } },
    [
      'spec.securityContext.sysctls[0].name: Invalid value: "a/b": must have at most 253 characters and match regex ([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*[a-z0-9]([-_a-z0-9]*[a-z0-9])?',
    ],
    [],
  ],
  [
    'a sysctl of the network that is shared',
    [28, 29],
    { hostNetwork: true, securityContext: { sysctls: [{ name: 'net.a', value: '1' }] } },
    [],
    [
      'spec.securityContext.sysctls[0].name: Invalid value: "net.a": may not be specified when \'hostNetwork\' is true',
    ],
  ],
  [
    'processes shared within the pod and with the host',
    [36, 37],
    { ...whole, hostPID: true, shareProcessNamespace: true },
    [
      'spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
    ],
    [
      'spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
    ],
  ],
  [
    'procMount Unmasked',
    [29, 30],
    with1({ securityContext: { procMount: 'Unmasked' } }),
    [],
    [
      `${at}.securityContext.procMount: Invalid value: "Unmasked": \`hostUsers\` must be false to use \`Unmasked\``,
    ],
  ],
  [
    'a toleration that Exists with a value',
    [31, 32],
    { ...whole, tolerations: [{ key: 'a', operator: 'Exists', value: 'x' }] },
    [
      'spec.tolerations[0].operator: Invalid value: core.Toleration{Key:"a", Operator:"Exists", Value:"x", Effect:"", TolerationSeconds:(*int64)(nil)}: value must be empty when `operator` is \'Exists\'',
    ],
    [
      'spec.tolerations[0].operator: Invalid value: "x": value must be empty when `operator` is \'Exists\'',
    ],
  ],
  [
    'a toleration that compares',
    [34, 35],
    { ...whole, tolerations: [{ key: 'a', operator: 'Lt', value: '1' }] },
    ['spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists"'],
    [
      'spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"',
    ],
  ],
  [
    'a DNS server and a host alias with invalid addresses',
    [32, 33],
    { ...whole, dnsConfig: { nameservers: ['x'] } },
    ['spec.dnsConfig.nameservers[0]: Invalid value: "x": must be valid IP address'],
    [
      'spec.dnsConfig.nameservers[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    'a host alias with an invalid address',
    [29, 30],
    { hostAliases: [{ ip: 'x' }] },
    ['spec.hostAliases.ip: Invalid value: "x": must be valid IP address'],
    ['spec.hostAliases[0].ip: Invalid value: "x": must be valid IP address'],
  ],
  [
    'a search path that is a dot',
    [31, 32],
    { ...whole, dnsPolicy: 'Default', dnsConfig: { searches: ['a_b'] } },
    ['spec.dnsConfig.searches[0]: Invalid value: "a_b"'],
    [],
  ],
  [
    'no grace period',
    [30, 31],
    { terminationGracePeriodSeconds: undefined },
    [],
    ['spec.terminationGracePeriodSeconds: Required value'],
  ],
  [
    'a negative grace period',
    [36, 37],
    { ...whole, terminationGracePeriodSeconds: -1 },
    [],
    ['spec.terminationGracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'two names of one account',
    [36, 37],
    { ...whole, serviceAccountName: 'a', serviceAccount: 'b' },
    [],
    [
      'spec.deprecatedServiceAccount: Invalid value: "b": must be the same as serviceAccountName: "a"',
    ],
  ],
  [
    'a value of node affinity that is not a label value',
    [31, 32],
    {
      ...whole,
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'a', operator: 'In', values: ['-'] }] },
            ],
          },
        },
      },
    },
    [],
    [
      `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "-"`,
    ],
  ],
  [
    'an invalid selector of a spread constraint',
    [26, 27],
    {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'z',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { a: '-' } },
        },
      ],
    },
    [],
    [`spec.topologySpreadConstraints[0].labelSelector.matchLabels: Invalid value: "-"`],
  ],
  [
    'a token outside of its volume',
    [29, 30],
    {
      volumes: [
        {
          name: 'v',
          projected: {
            sources: [{ serviceAccountToken: { path: '../x', expirationSeconds: 3600 } }],
          },
        },
      ],
    },
    [],
    [`spec.volumes[0].projected.path: Invalid value: "../x": must not contain '..'`],
  ],
  [
    'two things in one source',
    [30, 31],
    {
      ...whole,
      volumes: [
        {
          name: 'v',
          projected: { sources: [{ secret: { name: 'a' }, configMap: { name: 'a' } }] },
        },
      ],
    },
    ['spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type'],
    [
      'spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source',
    ],
  ],
  [
    'a secret of a CSI volume without name',
    [23, 24],
    { volumes: [{ name: 'v', csi: { driver: 'd', nodePublishSecretRef: {} } }] },
    ['spec.volumes[0].csi.nodePublishSecretRef .name: Required value'],
    ['spec.volumes[0].csi.nodePublishSecretRef.name: Required value'],
  ],
  [
    'a name in the metadata of a claim template',
    [25, 26],
    {
      volumes: [
        {
          name: 'v',
          ephemeral: {
            volumeClaimTemplate: {
              metadata: { name: 'x' },
              spec: {
                accessModes: ['ReadWriteOnce'],
                resources: { requests: { storage: '1' } },
              },
            },
          },
        },
      ],
    },
    [
      'spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set for an ephemeral volume',
    ],
    ['spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set'],
  ],
  [
    'a CSI volume without driver',
    [34, 35],
    { ...whole, volumes: [{ name: 'v', csi: {} }] },
    ['spec.volumes[0].csi.driver: Required value', 'spec.volumes[0].csi.driver: Invalid value: ""'],
    ['spec.volumes[0].csi.driver: Required value'],
  ],
  [
    'a token without seconds',
    [36, 37],
    {
      ...whole,
      volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'x' } }] } }],
    },
    [
      'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 0: may not specify a duration less than 10 minutes',
    ],
    ['spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Required value'],
  ],
]
for (const [what, [last, first], spec, before, now] of rows) {
  test(`${what}, before and since 1.${first}`, () => {
    assert.deepEqual(errorsIn(last, podOf(spec)), before)
    assert.deepEqual(errorsIn(first, podOf(spec)), now)
  })
}

const warningsIn = (release: number, spec: Loose, annotations?: Record<string, string>): string[] =>
  podBehaviour.warningsOnCreate?.(podOf(spec, annotations), contextOf({ release })) ?? []
const claim = { spec: { resources: { requests: { storage: '1m' } } } }
const twice = { name: 'a', containerPort: 1, protocol: 'TCP' }

const warned: [what: string, Releases, Loose, string[], string[], Record<string, string>?][] = [
  [
    'flocker',
    [22, 23],
    { volumes: [{ name: 'v', flocker: {} }] },
    ['spec.volumes[0].flocker: deprecated in v1.22, support removal is planned in v1.26'],
    ['spec.volumes[0].flocker: deprecated in v1.22, non-functional in v1.25+'],
  ],
  [
    'glusterfs',
    [24, 25],
    { volumes: [{ name: 'v', glusterfs: {} }] },
    [],
    ['spec.volumes[0].glusterfs: deprecated in v1.25, non-functional in v1.26+'],
  ],
  [
    'fractions of claims',
    [25, 26],
    { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: claim } }] },
    [],
    [
      'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value "1m" is invalid, must be an integer',
    ],
  ],
  [
    'a negative grace period',
    [26, 27],
    { terminationGracePeriodSeconds: -1 },
    [],
    [
      'spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
    ],
  ],
  [
    'seccomp annotations',
    [26, 27],
    {},
    [
      'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: deprecated since v1.19; use the "seccompProfile" field instead',
    ],
    [
      'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead',
    ],
    { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' },
  ],
  [
    'rbd',
    [27, 28],
    { volumes: [{ name: 'v', rbd: {} }] },
    [],
    ['spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+'],
  ],
  [
    'a variable that hides another',
    [27, 28],
    with1({ env: [{ name: 'A' }, { name: 'A', value: 'x' }] }),
    ['spec.containers[0].env[1].name: duplicate name "A"'],
    [
      'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    ],
  ],
  [
    'files with overlapping paths',
    [31, 32],
    {
      volumes: [{ name: 'v', configMap: { name: 'm', items: [{ path: 'a' }, { path: 'a/b' }] } }],
    },
    [],
    ['volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"'],
  ],
  [
    'ports with one name',
    [32, 33],
    with1({ ports: [twice, { ...twice, containerPort: 2 }] }),
    [],
    [
      'spec.containers[0].ports[1]: duplicate port name "a" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
    ],
  ],
  [
    'gitRepo',
    [32, 33],
    { volumes: [{ name: 'v', gitRepo: {} }] },
    ['spec.volumes[0].gitRepo: deprecated in v1.11'],
    ['spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+'],
  ],
  [
    'an address with zeros',
    [32, 33],
    { hostAliases: [{ ip: '010.0.0.1' }] },
    [],
    ['spec.hostAliases[0].ip: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"'],
  ],
]
for (const [what, [last, first], spec, before, now, annotations] of warned) {
  test(`warnings of ${what}, before and since 1.${first}`, () => {
    assert.deepEqual(warningsIn(last, spec, annotations), before)
    assert.deepEqual(warningsIn(first, spec, annotations), now)
  })
}

const updateErrors = (release: number, next: Loose, old: Loose, ...gates: string[]): string[] =>
  linesOf(
    podBehaviour.validateUpdate?.(podOf(next), podOf(old), contextOf({ release }, ...gates)) ?? [],
  ).filter((line) => !line.startsWith('spec: Forbidden'))
const sysAdmin = with1({
  securityContext: { allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } },
})

test('a pod keeps CAP_SYS_ADMIN from 1.37 on', () => {
  const spec = { ...whole, ...sysAdmin }
  assert.equal(updateErrors(36, spec, spec).length, 1)
  assert.deepEqual(updateErrors(37, spec, spec), [])
})

test('since 1.34 a pod with its own user namespace has no block devices', () => {
  const spec = {
    hostUsers: false,
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }],
    ...with1({ volumeDevices: [{ name: 'v', devicePath: '/d' }] }),
  }
  const refused = [`${at}.volumeDevices: Forbidden: when \`hostUsers\` is false`]
  assert.deepEqual(
    [33, 34].map((release) => errorsIn(release, podOf(spec))),
    [[], refused],
  )
})

test('an image volume needs a reference from 1.37 on', () => {
  const spec = { ...whole, volumes: [{ name: 'v', image: { pullPolicy: 'Always' } }] }
  const refused = ['spec.volumes[0].image.reference: Required value']
  assert.deepEqual(
    [36, 37].map((release) => errorsIn(release, podOf(spec))),
    [[], refused],
  )
})

test('an init container restarts for a resize until 1.35, and not from 1.36 on', () => {
  const policy = { resourceName: 'cpu', restartPolicy: 'RestartContainer' }
  const spec = { initContainers: [container({ name: 'i', resizePolicy: [policy] })] }
  const errors = (release: number) => {
    const context = contextOf({ release }, 'InPlacePodVerticalScaling')
    return linesOf(podBehaviour.validateCreate?.(podOf(spec), context) ?? [])
  }
  const refused =
    'spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to \'RestartContainer\' for non-sidecar initContainers'
  assert.deepEqual([35, 36].map(errors), [[], [refused]])
})

test('matchLabelKeys extend the selector of a spread constraint from 1.34 on', () => {
  const gates = [
    'EvenPodsSpread',
    'MatchLabelKeysInPodTopologySpread',
    'MatchLabelKeysInPodTopologySpreadSelectorMerge',
  ]
  const selectorIn = (release: number): Loose => {
    const constraint = { matchLabelKeys: ['app'], labelSelector: {} }
    const pod = podOf({ topologySpreadConstraints: [constraint] })
    pod.metadata.labels = { app: 'web' }
    podBehaviour.prepareForCreate?.(pod, contextOf({ release }, ...gates))
    return pod.spec.topologySpreadConstraints[0].labelSelector
  }
  const added = { matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] }
  assert.deepEqual([33, 34].map(selectorIn), [{}, added])
})

test('the limits of huge pages of a pod default to those of containers from 1.34 on', () => {
  const limitsIn = (release: number): Loose => {
    const pages = { limits: { 'hugepages-2Mi': '4Mi' } }
    const spec = podOf({ resources: { limits: { cpu: '1' } }, ...with1({ resources: pages }) }).spec
    defaultPodResources(spec, { has: releaseOf(release).has, limits: false })
    return spec.resources.limits
  }
  assert.deepEqual([33, 34].map(limitsIn), [{ cpu: '1' }, { cpu: '1', 'hugepages-2Mi': '4Mi' }])
})
