import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { kindOf, outcome, pod, podKind, requestOf } from '#admission/requests.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { podSecurityConfiguration } from './configuration.ts'
import { detailsOf, podChecks } from './pod-checks.ts'
import { type PodSecurityLevel, policyOf } from './policy.ts'
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

const on = () => true
const releases = { old: releaseOf(22), new: releaseOf(37) }
const problemsOf = podChecks(releases.old, on)

const checks: [level: PodSecurityLevel, version: number | undefined, spec: Loose, found: string][] =
  [
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
      {
        ...one(good),
        volumes: [{ name: 'a', hostPath: {} }, { name: 'b', nfs: {} }, { name: 'n' }],
      },
      'hostPath volumes (volume "a"), restricted volume types (volumes "a", "b", "n" use restricted volume types "hostPath", "nfs", "unknown")',
    ],
  ]
for (const [level, version, spec, found] of checks) {
  test(`${level} ${version ?? 'latest'}: ${found || 'nothing wrong'}`, () => {
    assert.equal(detailsOf(problemsOf({ level, version }, {}, spec)), found)
  })
}

test('annotations are checked in releases without the fields', () => {
  const metadata = {
    annotations: {
      'container.apparmor.security.beta.kubernetes.io/c': 'unconfined',
      'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
    },
  }
  const stated = (version: number) =>
    detailsOf(problemsOf({ level: 'baseline', version }, metadata, one({})))
  const armor =
    'forbidden AppArmor profile (container.apparmor.security.beta.kubernetes.io/c="unconfined")'
  assert.equal(stated(19), armor)
  assert.equal(
    stated(18),
    `${armor}, seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")`,
  )
})

const { defaults } = podSecurityConfiguration(undefined, releases.old)

test('invalid labels', () => {
  const p = 'pod-security.kubernetes.io/'
  const labels = { [`${p}enforce`]: 'no', [`${p}warn`]: 'no', [`${p}audit-version`]: 'v2.1' }
  const { policy, problems } = policyOf(labels, defaults, releases.old)
  assert.deepEqual([policy.enforce.level, policy.warn.level], ['restricted', 'privileged'])
  assert.deepEqual(
    problems.map(({ place, error }) => `${place} ${error.field}: ${error.message}`),
    [
      'Enforce.Level metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "no": must be one of privileged, baseline, restricted',
      'Audit.Version metadata.labels[pod-security.kubernetes.io/audit-version]: Invalid value: "v2.1": must be "latest" or "v1.x"',
      'Warn.Level metadata.labels[pod-security.kubernetes.io/warn]: Invalid value: "no": must be one of privileged, baseline, restricted',
    ],
  )
})

test('the enforced level also causes warnings since 1.26', () => {
  const p = 'pod-security.kubernetes.io/'
  const labels = { [`${p}enforce`]: 'baseline', [`${p}enforce-version`]: 'v1.30' }
  const warned = (minor: number) => policyOf(labels, defaults, releaseOf(minor)).policy.warn
  assert.deepEqual(warned(25), { level: 'privileged', version: undefined })
  assert.deepEqual(warned(26), { level: 'baseline', version: 30 })
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
const configuration = {
  kind: 'PodSecurityConfiguration',
  apiVersion: 'pod-security.admission.config.k8s.io/v1alpha1',
  exemptions: { runtimeClasses: ['free'] },
}
const plugin = podSecurity(configuration, { release: releases.old, feature: on })
const newPlugin = podSecurity(configuration, { release: releases.new, feature: on })

test('a pod is rejected, causes a warning, or is recorded in the audit log', async () => {
  const requested = requestOf('CREATE', podKind, reaching)
  assert.equal(
    await outcome(plugin, requested, labelled({ enforce: 'baseline', audit: 'baseline' })),
    '403 host namespaces (hostNetwork=true)',
  )
  assert.deepEqual(
    [...requested.auditAnnotations],
    [['pod-security.kubernetes.io/audit', 'host namespaces (hostNetwork=true)']],
  )
  const warned = requestOf('CREATE', podKind, reaching)
  assert.equal(await outcome(plugin, warned, labelled({ warn: 'baseline' })), 'admitted')
  assert.deepEqual(warned.warnings, [
    'would violate "latest" version of "baseline" PodSecurity profile: host namespaces (hostNetwork=true)',
  ])
})

test('a violation in 1.37 names the policy', async () => {
  const created = requestOf('CREATE', podKind, reaching)
  const strict = labelled({ enforce: 'baseline', audit: 'restricted' })
  const found = 'host namespaces (hostNetwork=true)'
  assert.equal(
    await outcome(newPlugin, created, strict),
    `403 pods "p" is forbidden: violates PodSecurity "baseline:latest": ${found}`,
  )
  const violations = created.auditAnnotations.get('pod-security.kubernetes.io/audit-violations')
  assert.match(violations ?? '', /^would violate PodSecurity "restricted:latest": host namespaces/)
  const notes = created.auditAnnotations
  assert.equal(notes.get('pod-security.kubernetes.io/enforce-policy'), 'baseline:latest')
  const warned = requestOf('CREATE', podKind, reaching)
  assert.equal(await outcome(newPlugin, warned, labelled({ warn: 'baseline' })), 'admitted')
  assert.deepEqual(warned.warnings, [`would violate PodSecurity "baseline:latest": ${found}`])
})

test('in 1.37, raising the level of a namespace causes one warning for pods with equal problems', async () => {
  const namespaces = kindOf('v1', 'namespaces')
  const wanting = (level: string) => ({
    metadata: { name: 'ns', labels: { 'pod-security.kubernetes.io/enforce': level } },
  })
  const reader = labelled({})
  for (const name of ['b', 'a', 'c'])
    reader.put('', 'pods', { ...reaching, metadata: { ...reaching.metadata, name } })
  assert.equal(
    await outcome(newPlugin, requestOf('CREATE', namespaces, wanting('no')), reader),
    '422 Namespace "ns" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "no": must be one of privileged, baseline, restricted',
  )
  const stricter = requestOf('UPDATE', namespaces, wanting('baseline'), {
    old: wanting('privileged') as never,
  })
  assert.equal(await outcome(newPlugin, stricter, reader), 'admitted')
  assert.deepEqual(stricter.warnings, [
    'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
    'a (and 2 other pods): host namespaces',
  ])
})

test('labels of an exempt namespace cause a warning', async () => {
  const exempt = podSecurity(
    { ...configuration, exemptions: { namespaces: ['ns'] } },
    { release: releases.new, feature: on },
  )
  const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' }
  const created = requestOf('CREATE', kindOf('v1', 'namespaces'), {
    metadata: { name: 'ns', labels },
  })
  assert.equal(await outcome(exempt, created, labelled({})), 'admitted')
  assert.deepEqual(created.warnings, [
    'namespace "ns" is exempt from Pod Security, and the policy (enforce=baseline:latest) will be ignored',
  ])
})

test('exemptions', async () => {
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

test('workloads only cause warnings', async () => {
  const template = { metadata: {}, spec: { hostNetwork: true, containers: [{ name: 'c' }] } }
  const deployment = { metadata: { name: 'd' }, spec: { template } }
  const request = requestOf('CREATE', kindOf('apps/v1', 'deployments'), deployment)
  const strict = labelled({ enforce: 'baseline', warn: 'baseline' })
  assert.equal(await outcome(plugin, request, strict), 'admitted')
  assert.equal(request.warnings.length, 1)
})

test("a namespace's labels are validated, and its update lists the pods that do not comply", async () => {
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

test('invalid configurations', () => {
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
    assert.throws(() => podSecurityConfiguration(configuration, releases.old), why)
})

test('configurations are read as v1 since 1.25', () => {
  const stable = {
    kind: 'PodSecurityConfiguration',
    apiVersion: 'pod-security.admission.config.k8s.io/v1',
    defaults: { enforce: 'x' },
  }
  const why = (minor: number) => () => podSecurityConfiguration(stable, releaseOf(minor))
  assert.throws(why(24), /no kind "PodSecurityConfiguration" is registered for version/)
  assert.throws(why(25), /PodSecurity configuration error: enforce: must be one of/)
})
