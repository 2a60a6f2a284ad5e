import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import {
  checkCreate,
  contextFor,
  inDefault,
  linesOf,
  named,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { podDisruptionBudgetBehaviour } from './pod-disruption-budget/behaviour.ts'
import { podSecurityPolicyBehaviour } from './pod-security-policy/behaviour.ts'

checkCreate(podDisruptionBudgetBehaviour, [
  ['a share', inDefault({ spec: { minAvailable: '50%' } }), []],
  [
    'no more than all, and no words',
    inDefault({ spec: { minAvailable: '101%' } }),
    [
      'spec.minAvailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%',
    ],
  ],
  [
    'not less than none',
    inDefault({ spec: { maxUnavailable: -1 } }),
    ['spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0'],
  ],
])

test('a budget has either minAvailable or maxUnavailable', () => {
  const object = inDefault({ spec: { minAvailable: 1, maxUnavailable: 1 } })
  const [error] = podDisruptionBudgetBehaviour.validateCreate?.(object, contextFor()) ?? []
  assert.match(error?.message ?? '', /minAvailable and maxUnavailable cannot be both set$/)
})

test('counts in the status are validated in the stable version', () => {
  const object = inDefault({ status: { currentHealthy: -1 } })
  const check = podDisruptionBudgetBehaviour.subresources?.status?.validateUpdate
  const lines = (requestApiVersion: string) =>
    linesOf(check?.(object, object, contextFor({ requestApiVersion })) ?? [])
  assert.deepEqual(lines('policy/v1'), [
    'status.currentHealthy: Invalid value: -1: must be greater than or equal to 0',
  ])
  assert.deepEqual(lines('policy/v1beta1'), [])
})

test('ephemeral volumes are always allowed in 1.19 and 1.20', () => {
  const count = (release: number) =>
    podSecurityPolicyBehaviour.validateCreate?.(
      policy({ volumes: ['ephemeral'] }),
      contextFor({ release }),
    ).length
  assert.deepEqual([18, 19, 20, 21].map(count), [1, 0, 0, 1])
})

test('before 1.21 they are checked with the spec instead', () => {
  const object = inDefault({ spec: {}, status: { disruptionsAllowed: -1 } })
  const lines = (release: number) => {
    const context = contextFor({ release })
    assert.equal(
      podDisruptionBudgetBehaviour.subresources?.status?.validateUpdate?.(object, object, context)
        .length,
      release < 21 ? 0 : 1,
    )
    return linesOf(podDisruptionBudgetBehaviour.validateUpdate?.(object, object, context) ?? [])
  }
  const negative = 'Invalid value: -1: must be greater than or equal to 0'
  assert.deepEqual(lines(17), [`status.podDisruptionsAllowed: ${negative}`])
  assert.deepEqual(lines(20), [`status.disruptionsAllowed: ${negative}`])
  assert.deepEqual(lines(21), [])
})

const any = { rule: 'RunAsAny' }
const policy = (spec: Loose, annotations?: Record<string, string>) =>
  named(
    { spec: { seLinux: any, runAsUser: any, supplementalGroups: any, fsGroup: any, ...spec } },
    { annotations },
  )
checkCreate(podSecurityPolicyBehaviour, [
  ['all volumes are allowed', policy({ volumes: ['*'] }), []],
  [
    'ranges of ids',
    policy({
      runAsUser: {
        rule: 'MustRunAs',
        ranges: [
          { min: 2, max: 1 },
          { min: -1, max: 9007199254740993n },
        ],
      },
    }),
    [
      'spec.runAsUser.ranges[0].min: Invalid value: 2: min cannot be greater than max',
      'spec.runAsUser.ranges[1].min: Invalid value: -1: min cannot be negative',
    ],
  ],
  [
    'groups need ranges',
    policy({ runAsGroup: { rule: 'MustRunAs' } }),
    [
      'spec.runAsGroup.ranges: Invalid value: []policy.IDRange(nil): must provide at least one range',
    ],
  ],
  [
    'what is dropped is not added',
    policy({
      requiredDropCapabilities: ['A'],
      defaultAddCapabilities: ['A'],
      allowedCapabilities: ['*'],
    }),
    [
      'requiredDropCapabilities: Invalid value: []core.Capability{"A"}: must be empty when all capabilities are allowed by a wildcard',
      'defaultAddCapabilities: Invalid value: "A": capability is listed in defaultAddCapabilities and requiredDropCapabilities',
    ],
  ],
  [
    'no sysctl is allowed and forbidden',
    policy({ allowedUnsafeSysctls: ['a.*', 'b.c'], forbiddenSysctls: ['a.b', 'b.*'] }),
    [
      'spec.forbiddenSysctls[0]: Invalid value: "a.b": sysctl overlaps with a.*',
      'spec.allowedUnsafeSysctls[1]: Invalid value: "b.c": sysctl overlaps with b.*',
    ],
  ],
  [
    'the default runtime is allowed',
    policy({ runtimeClass: { allowedRuntimeClassNames: ['a'], defaultRuntimeClassName: 'b' } }),
    ['spec.runtimeClass.allowedRuntimeClassNames: Required value: default "b" must be allowed'],
  ],
  [
    'profiles in annotations',
    policy(
      {},
      {
        'apparmor.security.beta.kubernetes.io/allowedProfileNames': 'runtime/default,odd',
        'seccomp.security.alpha.kubernetes.io/defaultProfileName': 'odd',
      },
    ),
    [
      'metadata.annotations[apparmor.security.beta.kubernetes.io/allowedProfileNames]: Invalid value: "runtime/default,odd": invalid AppArmor profile name: "odd"',
      'metadata.annotations[seccomp.security.alpha.kubernetes.io/defaultProfileName]: Invalid value: "odd": must be a valid seccomp profile',
    ],
  ],
])
