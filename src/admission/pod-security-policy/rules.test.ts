import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '#admission/requests.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import { applyPolicy } from './defaults.ts'
import { policyProblems } from './rules.ts'

const any = { rule: 'RunAsAny' }
const open = { runAsUser: any, seLinux: any, fsGroup: any, supplementalGroups: any, volumes: ['*'] }

/** The violations of a pod after the policy has applied its defaults. */
function problems(spec: Loose, object: KubeObject, annotations: Loose = {}): string[] {
  const policy = { metadata: { name: 'only', annotations }, spec: { ...open, ...spec } }
  applyPolicy(policy, object)
  return policyProblems(policy, object).map(({ field, message }) => `${field}: ${message}`)
}

const container = (securityContext: Loose, more: Loose = {}) =>
  pod({ containers: [{ name: 'c', securityContext, ...more }] })
const whole = (securityContext: Loose) => pod({ securityContext })
const initial = (more: Loose) => pod({ containers: [], initContainers: [{ name: 'i', ...more }] })
const volume = (...volumes: Loose[]) =>
  pod({ volumes: volumes.map((one, i) => ({ name: `v${i}`, ...one })) })
const mounting = (list: string, mount: Loose) =>
  pod({
    containers: [],
    [list]: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/x', ...mount }] }],
    volumes: [{ name: 'v', hostPath: { path: '/ro/x' } }],
  })
const port = (...hostPorts: number[]) => ({ ports: hostPorts.map((hostPort) => ({ hostPort })) })

const at = 'spec.containers[0].securityContext'
const capable = {
  defaultAddCapabilities: ['CHOWN'],
  requiredDropCapabilities: ['KILL'],
  allowedCapabilities: ['SYS_TIME'],
}
const strict = { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false }
const users = {
  runAsUser: {
    rule: 'MustRunAs',
    ranges: [
      { min: 10, max: 20 },
      { min: 30, max: 40 },
    ],
  },
}
const nonRoot = { runAsUser: { rule: 'MustRunAsNonRoot' } }
const groups = (rule: string) => ({
  runAsGroup: { rule, ranges: [{ min: 10, max: 20 }] },
  fsGroup: { rule, ranges: [{ min: 1, max: 5 }] },
  supplementalGroups: { rule, ranges: [{ min: 7, max: 9 }] },
})
const labelled = {
  seLinux: {
    rule: 'MustRunAs',
    seLinuxOptions: { user: 'u', role: 'r', type: 't', level: 's0:c1,c2' },
  },
}
const sysctls = {
  allowedUnsafeSysctls: ['kernel.msg*'],
  forbiddenSysctls: ['kernel.shm_rmid_forced', 'net.*'],
}
const sysctl = (name: string) => whole({ sysctls: [{ name, value: '1' }] })
const paths = { allowedHostPaths: [{ pathPrefix: '/foo' }, { pathPrefix: '/ro', readOnly: true }] }
const hostPath = (path: string) => volume({ hostPath: { path } })
const drivers = { allowedFlexVolumes: [{ driver: 'a/b' }], allowedCSIDrivers: [{ name: 'd' }] }
const noPath = (path: string) =>
  `spec.volumes[0].hostPath.pathPrefix: Invalid value: "${path}": is not allowed to be used`
const noVolume = (type: string, i = 0) =>
  `spec.volumes[${i}]: Invalid value: "${type}": ${type} volumes are not allowed to be used`
const noUser = (uid: number) =>
  `${at}.runAsUser: Invalid value: ${uid}: must be in the ranges: [{10 20} {30 40}]`
const token = (path = 'token', more: Loose = {}) => ({ serviceAccountToken: { path, ...more } })
const root = (name = 'kube-root-ca.crt') => ({ configMap: { name } })
const namespace = (path = 'namespace', fieldPath = 'metadata.namespace') => ({
  downwardAPI: { items: [{ path, fieldRef: { apiVersion: 'v1', fieldPath } }] },
})
const projected = (...sources: Loose[]) => volume({ projected: { sources } })

const cases: [name: string, spec: Loose, object: KubeObject, ...expected: string[]][] = [
  ['nothing', {}, pod()],
  [
    'the processes of the host',
    {},
    pod({ hostPID: true }),
    'spec.securityContext.hostPID: Invalid value: true: Host PID is not allowed to be used',
  ],
  [
    'the memory of the host',
    {},
    pod({ hostIPC: true }),
    'spec.securityContext.hostIPC: Invalid value: true: Host IPC is not allowed to be used',
  ],
  [
    'the host where allowed',
    { hostPID: true, hostIPC: true, hostNetwork: true },
    pod({ hostPID: true, hostIPC: true, hostNetwork: true }),
  ],
  ['privileges where allowed', { privileged: true }, container({ privileged: true })],
  ['escalation without a rule about it', {}, container({ allowPrivilegeEscalation: true })],
  [
    'an open /proc',
    {},
    container({ procMount: 'Unmasked' }),
    `${at}.procMount: Invalid value: "Unmasked": ProcMountType is not allowed`,
  ],
  [
    'a closed /proc where only open ones are allowed',
    { allowedProcMountTypes: ['Unmasked'] },
    container({}),
    `${at}.procMount: Invalid value: "Default": ProcMountType is not allowed`,
  ],
  [
    'ports at both ends of a range',
    { hostPorts: [{ min: 80, max: 90 }] },
    container({}, port(80, 90, 0)),
  ],
  [
    'ports beside it',
    { hostPorts: [{ min: 80, max: 90 }] },
    initial(port(79, 91)),
    'spec.initContainers[0].hostPort: Invalid value: 79: Host port 79 is not allowed to be used. Allowed ports: [80-90]',
    'spec.initContainers[0].hostPort: Invalid value: 91: Host port 91 is not allowed to be used. Allowed ports: [80-90]',
  ],
  ['an allowed capability', capable, container({ capabilities: { add: ['SYS_TIME', 'CHOWN'] } })],
  [
    'another capability',
    capable,
    container({ capabilities: { add: ['FOO'] } }),
    `${at}.capabilities.add: Invalid value: "FOO": capability may not be added`,
  ],
  [
    'a capability that must be dropped',
    capable,
    container({ capabilities: { add: ['KILL'] } }),
    `${at}.capabilities.add: Invalid value: "KILL": capability may not be added`,
  ],
  [
    'any capability where all are allowed',
    { allowedCapabilities: ['*'] },
    container({ capabilities: { add: ['FOO'] } }),
  ],
  [
    'a file system to write to',
    strict,
    container({ readOnlyRootFilesystem: false }),
    `${at}.readOnlyRootFilesystem: Invalid value: false: ReadOnlyRootFilesystem must be set to true`,
  ],
  [
    'escalation',
    strict,
    container({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: true }),
    `${at}.allowPrivilegeEscalation: Invalid value: true: Allowing privilege escalation for containers is not allowed`,
  ],
  ['a user of the second range', users, container({ runAsUser: 35 })],
  [
    'users at the ends',
    users,
    pod({
      securityContext: { runAsUser: 5 },
      containers: [10, 20, 30, 40].map((runAsUser) => ({
        name: 'c',
        securityContext: { runAsUser },
      })),
    }),
  ],
  ['a user between', users, container({ runAsUser: 25 }), noUser(25)],
  ['a user of the whole pod', users, whole({ runAsUser: 5 }), noUser(5)],
  [
    'root',
    nonRoot,
    container({ runAsUser: 0 }),
    `${at}.runAsUser: Invalid value: 0: running with the root UID is forbidden`,
  ],
  [
    'root of the whole pod',
    nonRoot,
    whole({ runAsUser: 0 }),
    `${at}.runAsUser: Invalid value: 0: running with the root UID is forbidden`,
  ],
  [
    'perhaps root',
    nonRoot,
    container({ runAsNonRoot: false }),
    `${at}.runAsNonRoot: Invalid value: false: must be true`,
  ],
  ['another user than root', nonRoot, container({ runAsUser: 1 })],
  [
    'groups in range',
    groups('MustRunAs'),
    whole({ runAsGroup: 15, fsGroup: 5, supplementalGroups: [7, 9] }),
  ],
  ['no groups where they may be', groups('MayRunAs'), pod()],
  ...['MustRunAs', 'MayRunAs'].flatMap((rule): (typeof cases)[number][] => [
    [
      `another group, ${rule}`,
      groups(rule),
      container({ runAsGroup: 5 }),
      `${at}: Invalid value: []int64{5}: group 5 must be in the ranges: [{10 20}]`,
    ],
    [
      `another group of files, ${rule}`,
      groups(rule),
      whole({ fsGroup: 6 }),
      'spec.securityContext.fsGroup: Invalid value: []int64{6}: group 6 must be in the ranges: [{1 5}]',
    ],
    [
      `one more group, ${rule}`,
      groups(rule),
      whole({ supplementalGroups: [7, 10] }),
      'spec.securityContext.supplementalGroups: Invalid value: []int64{7, 10}: group 10 must be in the ranges: [{7 9}]',
    ],
  ]),
  [
    'other labels',
    labelled,
    container({ seLinuxOptions: { type: 'y', level: 's0:c2,c1', user: 'u' } }),
    `${at}.seLinuxOptions.role: Invalid value: "": must be r`,
    `${at}.seLinuxOptions.type: Invalid value: "y": must be t`,
  ],
  ['a setting that is safe', {}, sysctl('kernel.shm_rmid_forced')],
  ['a setting that is allowed', sysctls, sysctl('kernel.msgmax')],
  [
    'a setting that is forbidden though safe',
    sysctls,
    sysctl('kernel.shm_rmid_forced'),
    'pod.spec.securityContext.sysctls[0]: Forbidden: sysctl "kernel.shm_rmid_forced" is not allowed',
  ],
  [
    'a setting that a pattern forbids',
    sysctls,
    sysctl('net.ipv4.tcp_syncookies'),
    'pod.spec.securityContext.sysctls[0]: Forbidden: sysctl "net.ipv4.tcp_syncookies" is not allowed',
  ],
  [
    'a sysctl without a rule about it',
    sysctls,
    sysctl('fs.mqueue.max'),
    'pod.spec.securityContext.sysctls[0]: Forbidden: unsafe sysctl "fs.mqueue.max" is not allowed',
  ],
  [
    'volumes of allowed types',
    { volumes: ['configMap', 'emptyDir'] },
    volume({ emptyDir: {} }, { configMap: {} }),
  ],
  [
    'volumes of others',
    { volumes: ['configMap'] },
    volume({ nfs: {} }, { configMap: {} }, { persistentVolumeClaim: {} }),
    noVolume('nfs'),
    noVolume('persistentVolumeClaim', 2),
  ],
  [
    'what the server mounts, where secrets are allowed',
    { volumes: ['secret'] },
    projected(token(), root(), namespace()),
  ],
  ['nothing mounted', { volumes: ['secret'] }, volume({ projected: { sources: null } })],
  ...[
    projected(token('other')),
    projected(token('token', { audience: 'x' })),
    projected(root('other')),
    projected(namespace('other')),
    projected(namespace('namespace', 'metadata.name')),
    projected({ secret: { name: 'x' } }),
  ].map((object): (typeof cases)[number] => [
    `something else so mounted: ${JSON.stringify(object.spec.volumes[0].projected.sources)}`,
    { volumes: ['secret'] },
    object,
    noVolume('projected'),
  ]),
  [
    'what the server mounts, where they are not',
    { volumes: ['emptyDir'] },
    projected(token()),
    noVolume('projected'),
  ],
  ['any path of the host', {}, hostPath('/etc')],
  ['a path', paths, hostPath('/foo')],
  ['a path with its slash', paths, hostPath('/foo/')],
  ['a path below', paths, hostPath('/foo/bar')],
  ['a path beside', paths, hostPath('/food'), noPath('/food')],
  ['another path', paths, hostPath('/etc'), noPath('/etc')],
  ['a read-only path that is not mounted', paths, hostPath('/ro/x')],
  ['a path to read', paths, mounting('containers', { readOnly: true })],
  [
    'a path to read that is written to',
    paths,
    mounting('containers', {}),
    'spec.containers[0].volumeMounts[0].readOnly: Invalid value: false: must be read-only',
  ],
  [
    'a path to read, at first',
    paths,
    mounting('initContainers', {}),
    'spec.initContainers[0].volumeMounts[0].readOnly: Invalid value: false: must be read-only',
  ],
  ['drivers', drivers, volume({ flexVolume: { driver: 'a/b' } }, { csi: { driver: 'd' } })],
  [
    'other drivers',
    drivers,
    volume({ flexVolume: { driver: 'a/c' } }, { csi: { driver: 'e' } }),
    'spec.volumes[0].driver: Invalid value: "a/c": Flexvolume driver is not allowed to be used',
    'spec.volumes[1].csi.driver: Invalid value: "e": Inline CSI driver is not allowed to be used',
  ],
  ['any driver', {}, volume({ flexVolume: { driver: 'a/c' } }, { csi: { driver: 'e' } })],
  [
    'a runtime class',
    { runtimeClass: { allowedRuntimeClassNames: ['a'] } },
    pod({ runtimeClassName: 'a' }),
  ],
  [
    'another runtime class',
    { runtimeClass: { allowedRuntimeClassNames: ['a'] } },
    pod({ runtimeClassName: 'b' }),
    'spec.runtimeClassName: Invalid value: "b"',
  ],
  [
    'any runtime class',
    { runtimeClass: { allowedRuntimeClassNames: ['*'] } },
    pod({ runtimeClassName: 'b' }),
  ],
]
for (const [name, spec, object, ...expected] of cases)
  test(`${name}: ${JSON.stringify(spec)}`, () => assert.deepEqual(problems(spec, object), expected))

const armour = 'container.apparmor.security.beta.kubernetes.io/c'
const [podSeccomp, ownSeccomp] = [
  'seccomp.security.alpha.kubernetes.io/pod',
  'container.seccomp.security.alpha.kubernetes.io/c',
]
const armoured = {
  'apparmor.security.beta.kubernetes.io/allowedProfileNames': 'runtime/default',
  'apparmor.security.beta.kubernetes.io/defaultProfileName': 'runtime/default',
}
const profiles = (names: string) => ({
  'seccomp.security.alpha.kubernetes.io/allowedProfileNames': names,
})
const two = profiles('docker/default,localhost/p')
const annotated = (annotations: Loose) => pod({}, { annotations })
const seccomp = (type: string, localhostProfile?: string) =>
  whole({ seccompProfile: { type, localhostProfile } })
const notOf = (key: string, profile: string, names: string) =>
  `pod.metadata.annotations[${key}]: Forbidden: ${profile} is not an allowed seccomp profile. Valid values are ${names}`
const twoNames = 'docker/default,localhost/p'
const profileCases: [
  name: string,
  annotations: Loose,
  object: KubeObject,
  ...expected: string[],
][] = [
  ['an allowed profile', armoured, annotated({ [armour]: 'runtime/default' })],
  ['the default profile', armoured, pod()],
  [
    'another profile',
    armoured,
    annotated({ [armour]: 'localhost/x' }),
    `pod.metadata.annotations[${armour}]: Forbidden: localhost/x is not an allowed profile. Allowed values: "runtime/default"`,
  ],
  ['any profile', {}, annotated({ [armour]: 'localhost/x' })],
  ['a filter of the runtime under its old name', two, seccomp('RuntimeDefault')],
  ['a filter of the node', two, seccomp('Localhost', 'p')],
  [
    'no filter',
    two,
    seccomp('Unconfined'),
    notOf(podSeccomp, 'unconfined', twoNames),
    notOf(ownSeccomp, 'unconfined', twoNames),
  ],
  [
    'a filter of the node that has no name, and no default for it',
    { ...two, 'seccomp.security.alpha.kubernetes.io/defaultProfileName': 'docker/default' },
    seccomp('Localhost'),
    notOf(podSeccomp, '', twoNames),
    notOf(ownSeccomp, '', twoNames),
  ],
  [
    'no filter for one container',
    { ...two, 'seccomp.security.alpha.kubernetes.io/defaultProfileName': 'docker/default' },
    annotated({ [ownSeccomp]: 'unconfined' }),
    notOf(ownSeccomp, 'unconfined', twoNames),
  ],
  [
    'no seccomp profile where one is required',
    profiles('runtime/default'),
    pod(),
    notOf(podSeccomp, '', 'runtime/default'),
    notOf(ownSeccomp, '', 'runtime/default'),
  ],
  ['any filter', profiles('*'), seccomp('Unconfined')],
  [
    'a filter where none is allowed',
    {},
    annotated({ [podSeccomp]: 'runtime/default' }),
    `pod.metadata.annotations[${podSeccomp}]: Forbidden: seccomp may not be set`,
    `pod.metadata.annotations[${ownSeccomp}]: Forbidden: seccomp may not be set`,
  ],
]
for (const [name, annotations, object, ...expected] of profileCases)
  test(name, () => assert.deepEqual(problems({}, object, annotations), expected))

const given: [name: string, spec: Loose, object: KubeObject, expected: Loose][] = [
  ['a user', users, pod(), { runAsUser: 10 }],
  ['no user beside that of the pod', users, whole({ runAsUser: 15 }), {}],
  ['not root', nonRoot, pod(), { runAsNonRoot: true }],
  ['nothing beside a user', nonRoot, container({ runAsUser: 1 }), { runAsUser: 1 }],
  ['a group', groups('MustRunAs'), pod(), { runAsGroup: 10 }],
  ['no group where there may be none', groups('MayRunAs'), pod(), {}],
  ['capabilities', capable, pod(), { capabilities: { add: ['CHOWN'], drop: ['KILL'] } }],
  [
    'capabilities beside its own',
    capable,
    container({ capabilities: { add: ['SYS_TIME'] } }),
    { capabilities: { add: ['CHOWN', 'SYS_TIME'], drop: ['KILL'] } },
  ],
  [
    'none it dropped',
    capable,
    container({ capabilities: { drop: ['CHOWN'] } }),
    { capabilities: { drop: ['CHOWN', 'KILL'] } },
  ],
  [
    'no escalation',
    strict,
    pod(),
    { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
  ],
]
for (const [name, spec, object, expected] of given)
  test(`a policy gives ${name}`, () => {
    assert.deepEqual(problems(spec, object), [])
    assert.deepEqual(object.spec.containers[0].securityContext ?? {}, expected)
  })

test('empty groups get no defaults', () => {
  const object = whole({})
  rememberEmpty(object.spec.securityContext, 'supplementalGroups')
  assert.deepEqual(problems(groups('MustRunAs'), object).slice(0, 1), [
    'spec.securityContext.supplementalGroups: Invalid value: []int64{}: unable to validate empty groups against required ranges',
  ])
})
