import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enabledPlugins, pluginNames } from './plugin-names.ts'

test('the default plugins of 1.22, in order', () => {
  assert.deepEqual(enabledPlugins(22, [], []), [
    'NamespaceLifecycle',
    'LimitRanger',
    'ServiceAccount',
    'TaintNodesByCondition',
    'PodSecurity',
    'Priority',
    'DefaultTolerationSeconds',
    'DefaultStorageClass',
    'StorageObjectInUseProtection',
    'PersistentVolumeClaimResize',
    'RuntimeClass',
    'CertificateApproval',
    'CertificateSigning',
    'CertificateSubjectRestriction',
    'DefaultIngressClass',
    'MutatingAdmissionWebhook',
    'ValidatingAdmissionWebhook',
    'ResourceQuota',
  ])
})

/** The plugins that the second release has not, and those that the first has not. */
const steps: [last: number, first: number, gone: string[], added: string[]][] = [
  [15, 16, [], ['RuntimeClass']],
  [
    17,
    18,
    [],
    [
      'CertificateApproval',
      'CertificateSigning',
      'CertificateSubjectRestriction',
      'DefaultIngressClass',
    ],
  ],
  [19, 20, ['PodPreset'], []],
  [20, 21, ['DenyEscalatingExec', 'DenyExecOnPrivileged'], ['DenyServiceExternalIPs']],
  [21, 22, [], ['PodSecurity']],
  [22, 23, [], []],
  [24, 25, ['PodSecurityPolicy'], []],
  [25, 26, [], ['ValidatingAdmissionPolicy']],
  [26, 27, [], ['ClusterTrustBundleAttest']],
  [29, 30, ['SecurityContextDeny'], []],
  [30, 31, ['PersistentVolumeLabel'], []],
  [31, 32, [], ['MutatingAdmissionPolicy']],
  [32, 33, [], ['PodTopologyLabels']],
  [34, 35, [], ['NodeDeclaredFeatureValidator']],
  [
    35,
    36,
    [],
    ['PodGroupProtection', 'PodGroupWorkloadExists', 'JobValidation', 'PodResizeValidator'],
  ],
  [36, 37, ['PodGroupWorkloadExists', 'JobValidation'], []],
]
for (const [last, first, gone, added] of steps)
  test(`the plugins of 1.${last} and 1.${first}`, () => {
    const [before, now] = [pluginNames(last), pluginNames(first)]
    assert.deepEqual(
      before.filter((name) => !now.includes(name)),
      gone,
    )
    assert.deepEqual(
      now.filter((name) => !before.includes(name)),
      added,
    )
  })

test('a plugin has one place in each release', () => {
  for (let release = 15; release <= 37; release++) {
    const names = pluginNames(release)
    assert.equal(new Set(names).size, names.length, `1.${release}`)
  }
})

const orders: [earlier: string, later: string, last: number, first: number][] = [
  ['RuntimeClass', 'ValidatingAdmissionWebhook', 17, 18],
  ['PodSecurity', 'PodSecurityPolicy', 22, 23],
]
for (const [earlier, later, last, first] of orders)
  test(`${earlier} comes before ${later} since 1.${first}`, () => {
    const isEarlier = (release: number) => {
      const names = pluginNames(release)
      return names.indexOf(earlier) < names.indexOf(later)
    }
    assert.deepEqual([isEarlier(last), isEarlier(first)], [false, true])
  })

test('the last plugins by default, in order', () => {
  assert.deepEqual(enabledPlugins(37, [], []).slice(-5), [
    'MutatingAdmissionPolicy',
    'MutatingAdmissionWebhook',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionWebhook',
    'ResourceQuota',
  ])
})

test('enabled plugins run in their fixed order, disabled ones do not run', () => {
  const names = enabledPlugins(22, ['AlwaysPullImages'], ['Priority'])
  assert.ok(names.indexOf('AlwaysPullImages') < names.indexOf('DefaultTolerationSeconds'))
  assert.ok(!names.includes('Priority'))
})

test('unknown names are rejected with a list of the known ones', () => {
  assert.throws(
    () => enabledPlugins(22, ['Nope'], []),
    /enable-admission-plugins plugin "Nope" is unknown; known are AlwaysAdmit, /,
  )
  assert.throws(
    () => enabledPlugins(22, ['Priority'], ['Priority']),
    /\[Priority\] in enable-admission-plugins and disable-admission-plugins overlapped/,
  )
})
