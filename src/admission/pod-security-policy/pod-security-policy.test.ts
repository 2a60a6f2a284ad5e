import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { outcome, pod, podKind, requestOf } from '#admission/requests.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { podSecurityPolicy } from './pod-security-policy.ts'

const any = { rule: 'RunAsAny' }
const open = { runAsUser: any, seLinux: any, fsGroup: any, supplementalGroups: any, volumes: ['*'] }
const policy = (name: string, spec: Loose, annotations: Loose = {}): KubeObject => ({
  metadata: { name, annotations },
  spec: { ...open, ...spec },
})

/** Every user may use the named policies. */
async function run(
  object: KubeObject,
  policies: KubeObject[],
  mayUse = policies.map(({ metadata }) => metadata.name),
) {
  const reader = new MemoryReader()
  for (const one of policies) reader.put('policy', 'podsecuritypolicies', one)
  const authorizer = {
    name: 'Test',
    authorize: ({ name, verb }: Loose) => ({
      decision: verb === 'use' && mayUse.includes(name) ? ('allow' as const) : ('none' as const),
      reason: '',
    }),
  }
  return outcome(podSecurityPolicy(authorizer), requestOf('CREATE', podKind, object), reader)
}

const refused = '403 pods "p" is forbidden: PodSecurityPolicy: '

test('without policies no pod may run', async () => {
  assert.equal(await run(pod(), []), `${refused}no providers available to validate pod request`)
})

test('a policy that allows the pod unchanged comes first, and only permitted policies are used', async () => {
  const strict = policy('a-strict', {
    runAsUser: { rule: 'MustRunAs', ranges: [{ min: 5, max: 9 }] },
  })
  const wide = policy('wide', {})
  const first = pod()
  assert.equal(await run(first, [strict, wide]), 'admitted')
  assert.equal(first.metadata.annotations?.['kubernetes.io/psp'], 'wide')
  const second = pod()
  assert.equal(await run(second, [strict, wide], ['a-strict']), 'admitted')
  assert.equal(second.spec.containers[0].securityContext.runAsUser, 5)
  assert.equal(await run(pod(), [strict, wide], []), `${refused}unable to admit pod: []`)
})

test('the defaults of a policy', async () => {
  const object = pod()
  const given = policy(
    'p',
    {
      runAsUser: { rule: 'MustRunAsNonRoot' },
      fsGroup: { rule: 'MustRunAs', ranges: [{ min: 1, max: 2 }] },
      requiredDropCapabilities: ['ALL'],
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    },
    {
      'seccomp.security.alpha.kubernetes.io/defaultProfileName': 'runtime/default',
      'seccomp.security.alpha.kubernetes.io/allowedProfileNames': '*',
    },
  )
  assert.equal(await run(object, [given]), 'admitted')
  assert.deepEqual(object.spec.securityContext, { fsGroup: 1 })
  assert.deepEqual(object.spec.containers[0].securityContext, {
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
  })
  assert.equal(
    object.metadata.annotations?.['seccomp.security.alpha.kubernetes.io/pod'],
    'runtime/default',
  )
})

const container = (more: Loose) => ({ containers: [{ name: 'c', image: 'i', ...more }] })
const at = 'spec.containers[0].securityContext'
const cases: [name: string, rules: Loose, spec: Loose, problem: string][] = [
  [
    'privileged',
    {},
    container({ securityContext: { privileged: true } }),
    `${at}.privileged: Invalid value: true: Privileged containers are not allowed`,
  ],
  [
    'a user out of range',
    { runAsUser: { rule: 'MustRunAs', ranges: [{ min: 5, max: 9 }] } },
    container({ securityContext: { runAsUser: 0 } }),
    `${at}.runAsUser: Invalid value: 0: must be in the ranges: [{5 9}]`,
  ],
  [
    'a group out of range',
    { fsGroup: { rule: 'MayRunAs', ranges: [{ min: 1, max: 2 }] } },
    { securityContext: { fsGroup: 9 } },
    'spec.securityContext.fsGroup: Invalid value: []int64{9}: group 9 must be in the ranges: [{1 2}]',
  ],
  [
    'the host',
    {},
    { hostNetwork: true },
    'spec.securityContext.hostNetwork: Invalid value: true: Host network is not allowed to be used',
  ],
  [
    'a capability',
    {},
    container({ securityContext: { capabilities: { add: ['X'] } } }),
    `${at}.capabilities.add: Invalid value: "X": capability may not be added`,
  ],
  [
    'a host port',
    {
      hostPorts: [
        { min: 80, max: 90 },
        { min: 99, max: 99 },
      ],
    },
    container({ ports: [{ hostPort: 91 }] }),
    'spec.containers[0].hostPort: Invalid value: 91: Host port 91 is not allowed to be used. Allowed ports: [80-90,99]',
  ],
  [
    'a volume',
    { volumes: ['emptyDir'] },
    { volumes: [{ name: 'v', cephfs: {} }] },
    'spec.volumes[0]: Invalid value: "cephFS": cephFS volumes are not allowed to be used',
  ],
  [
    'a host path',
    { allowedHostPaths: [{ pathPrefix: '/foo' }] },
    { volumes: [{ name: 'v', hostPath: { path: '/food' } }] },
    'spec.volumes[0].hostPath.pathPrefix: Invalid value: "/food": is not allowed to be used',
  ],
  [
    'a sysctl',
    {},
    { securityContext: { sysctls: [{ name: 'net.core.somaxconn', value: '1' }] } },
    'pod.spec.securityContext.sysctls[0]: Forbidden: unsafe sysctl "net.core.somaxconn" is not allowed',
  ],
  [
    'levels in another order are the same, users not',
    { seLinux: { rule: 'MustRunAs', seLinuxOptions: { level: 's0:c1,c2' } } },
    { securityContext: { seLinuxOptions: { level: 's0:c2,c1', user: 'u' } }, containers: [] },
    'spec.securityContext.seLinuxOptions.user: Invalid value: "u": must be ',
  ],
  [
    'seccomp',
    {},
    { securityContext: { seccompProfile: { type: 'Unconfined' } }, containers: [] },
    'pod.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: Forbidden: seccomp may not be set',
  ],
]
for (const [name, rules, spec, problem] of cases) {
  test(name, async () =>
    assert.equal(
      await run(pod(spec), [policy('p', rules)]),
      `${refused}unable to admit pod: [${problem}]`,
    ),
  )
}
