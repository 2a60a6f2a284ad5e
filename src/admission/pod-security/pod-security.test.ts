import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { kindOf, outcome, pod, podKind, requestOf } from '#admission/requests.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { detailsOf, problemsOf } from './checks.ts'
import { podSecurityConfiguration } from './configuration.ts'
import { type Level, policyOf } from './policy.ts'
import { podSecurity } from './pod-security.ts'

const good: Loose = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}
const one = (securityContext: Loose, more: Loose = {}): Loose => ({
  containers: [{ name: 'c', securityContext, ...more }],
})

const checks: [level: Level, version: number | undefined, spec: Loose, found: string][] = [
  ['privileged', undefined, { hostNetwork: true, ...one({ privileged: true }) }, ''],
  ['baseline', undefined, one({}), ''],
  ['restricted', undefined, one(good), ''],
  [
    'restricted',
    undefined,
    one({}),
    'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), ' +
      'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ' +
      'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
  [
    'restricted',
    7,
    one({}),
    'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
  ],
  [
    'baseline',
    undefined,
    { hostPID: true, hostIPC: true, ...one({ privileged: true }, { ports: [{ hostPort: 80 }] }) },
    'host namespaces (hostPID=true, hostIPC=true), hostPort (container "c" uses hostPort 80), ' +
      'privileged (container "c" must not set securityContext.privileged=true)',
  ],
  [
    'baseline',
    undefined,
    one({ capabilities: { add: ['SYS_ADMIN', 'CHOWN', 'NET_RAW'] }, procMount: 'Unmasked' }),
    'non-default capabilities (container "c" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add), ' +
      'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    'baseline',
    undefined,
    { ...one({}), securityContext: { seLinuxOptions: { type: 'x', user: 'u' } } },
    'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x"; user may not be set)',
  ],
  [
    'baseline',
    undefined,
    {
      ...one({ windowsOptions: { hostProcess: true } }),
      securityContext: {
        seccompProfile: { type: 'Unconfined' },
        sysctls: [{ name: 'a.b' }, { name: 'kernel.shm_rmid_forced' }],
      },
    },
    'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined"), forbidden sysctls (a.b), ' +
      'hostProcess (container "c" must not set securityContext.windowsOptions.hostProcess=true)',
  ],
  [
    'restricted',
    30,
    { ...one(good), volumes: [{ name: 'a', hostPath: {} }, { name: 'b', nfs: {} }, { name: 'n' }] },
    'hostPath volumes (volume "a"), restricted volume types (volumes "a", "b", "n" use restricted volume types "hostPath", "nfs", "unknown")',
  ],
]
for (const [level, version, spec, found] of checks) {
  test(`${level} ${version ?? 'latest'}: ${found || 'nothing wrong'}`, () => {
    assert.equal(detailsOf(problemsOf({ level, version }, {}, spec)), found)
  })
}

test('annotations count where fields did not yet', () => {
  const metadata = {
    annotations: {
      'container.apparmor.security.beta.kubernetes.io/c': 'unconfined',
      'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
    },
  }
  const said = (version: number) =>
    detailsOf(problemsOf({ level: 'baseline', version }, metadata, one({})))
  const armor =
    'forbidden AppArmor profile (container.apparmor.security.beta.kubernetes.io/c="unconfined")'
  assert.equal(said(19), armor)
  assert.equal(
    said(18),
    `${armor}, seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")`,
  )
})

const { defaults } = podSecurityConfiguration(undefined)

test('labels that say nothing meaningful', () => {
  const p = 'pod-security.kubernetes.io/'
  const labels = { [`${p}enforce`]: 'no', [`${p}warn`]: 'no', [`${p}audit-version`]: 'v2.1' }
  const [policy, problem] = policyOf(labels, defaults)
  assert.deepEqual([policy.enforce.level, policy.warn.level], ['restricted', 'privileged'])
  assert.equal(
    problem,
    '[Enforce.Level: must be one of privileged, baseline, restricted, Audit.Version: must be "latest" or "v1.x", Warn.Level: must be one of privileged, baseline, restricted]',
  )
})

const labelled = (labels: Record<string, string>) => {
  const reader = new MemoryReader()
  const full = Object.entries(labels).map(([key, value]) => [
    `pod-security.kubernetes.io/${key}`,
    value,
  ])
  reader.put('', 'namespaces', { metadata: { name: 'ns', labels: Object.fromEntries(full) } })
  return reader
}
const reaching = pod({ hostNetwork: true })
const plugin = podSecurity({
  kind: 'PodSecurityConfiguration',
  apiVersion: 'pod-security.admission.config.k8s.io/v1alpha1',
  exemptions: { runtimeClasses: ['free'] },
})

test('a pod is refused, warned of, told of', async () => {
  const asked = requestOf('CREATE', podKind, reaching)
  assert.equal(
    await outcome(plugin, asked, labelled({ enforce: 'baseline', audit: 'baseline' })),
    '403 host namespaces (hostNetwork=true)',
  )
  assert.deepEqual(
    [...asked.auditAnnotations],
    [['pod-security.kubernetes.io/audit', 'host namespaces (hostNetwork=true)']],
  )
  const warned = requestOf('CREATE', podKind, reaching)
  assert.equal(await outcome(plugin, warned, labelled({ warn: 'baseline' })), 'admitted')
  assert.deepEqual(warned.warnings, [
    'would violate "latest" version of "baseline" PodSecurity profile: host namespaces (hostNetwork=true)',
  ])
})

test('who is let be', async () => {
  const strict = labelled({ enforce: 'baseline', warn: 'baseline' })
  const free = pod({ hostNetwork: true, runtimeClassName: 'free' })
  const relabelled = { ...reaching, metadata: { ...reaching.metadata, labels: { a: 'b' } } }
  const requests = [
    requestOf('CREATE', podKind, free),
    requestOf('UPDATE', podKind, relabelled, { old: reaching }),
    requestOf('UPDATE', podKind, reaching, { old: pod(), subresource: 'status' }),
  ]
  for (const request of requests) {
    assert.equal(await outcome(plugin, request, strict), 'admitted')
    assert.deepEqual(request.warnings, [])
  }
})

test('what makes pods is only warned of', async () => {
  const template = { metadata: {}, spec: { hostNetwork: true, containers: [{ name: 'c' }] } }
  const deployment = { metadata: { name: 'd' }, spec: { template } }
  const request = requestOf('CREATE', kindOf('apps/v1', 'deployments'), deployment)
  const strict = labelled({ enforce: 'baseline', warn: 'baseline' })
  assert.equal(await outcome(plugin, request, strict), 'admitted')
  assert.equal(request.warnings.length, 1)
})

test('a namespace says what it asks in words there are, and hears which pods do not comply', async () => {
  const namespaces = kindOf('v1', 'namespaces')
  const asking = (level: string) => ({
    metadata: { name: 'ns', labels: { 'pod-security.kubernetes.io/enforce': level } },
  })
  const reader = labelled({})
  reader.put('', 'pods', reaching)
  assert.equal(
    await outcome(plugin, requestOf('CREATE', namespaces, asking('no')), reader),
    '422 Enforce.Level: must be one of privileged, baseline, restricted',
  )
  const old = asking('privileged') as never
  const stricter = requestOf('UPDATE', namespaces, asking('baseline'), { old })
  assert.equal(await outcome(plugin, stricter, reader), 'admitted')
  assert.deepEqual(stricter.warnings, ['p: host namespaces'])
})

test('configurations that are refused', () => {
  const known = {
    kind: 'PodSecurityConfiguration',
    apiVersion: 'pod-security.admission.config.k8s.io/v1alpha1',
  }
  const cases: [configuration: Loose, why: RegExp][] = [
    [{ kind: 'Other' }, /no kind "Other" is registered for version ""/],
    [{ ...known, defaults: { enforce: 'x' } }, /Enforce.Level: must be one of/],
    [{ ...known, defaults: { 'warn-version': '1' } }, /Warn.Version: must be "latest" or "v1.x"/],
    [{ ...known, exemptions: { usernames: ['a', 'a'] } }, /usernames\[1\]: Duplicate value: "a"/],
    [{ ...known, exemptions: { namespaces: ['A'] } }, /namespaces\[0\]: Invalid value: "A"/],
  ]
  for (const [configuration, why] of cases)
    assert.throws(() => podSecurityConfiguration(configuration), why)
})
