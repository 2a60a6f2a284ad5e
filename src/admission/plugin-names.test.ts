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

test('policies run next to webhooks, in releases that have them', () => {
  const names = (release: number) =>
    enabledPlugins(release, [], []).filter((name) => /Admission(?:Policy|Webhook)$/.test(name))
  const webhooks = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook']
  const [mutating, validating] = webhooks as [string, string]
  assert.deepEqual(names(25), webhooks)
  assert.deepEqual(names(26), [mutating, 'ValidatingAdmissionPolicy', validating])
  assert.deepEqual(names(31), names(26))
  assert.deepEqual(names(32), ['MutatingAdmissionPolicy', ...names(26)])
})

test('older releases lack some plugins', () => {
  assert.ok(!pluginNames(15).includes('RuntimeClass'))
  assert.ok(!enabledPlugins(17, [], []).includes('CertificateApproval'))
  assert.ok(!pluginNames(20).includes('DenyServiceExternalIPs'))
})

test('older releases have other plugins', () => {
  for (const [name, last] of [
    ['PodPreset', 19],
    ['DenyEscalatingExec', 20],
    ['DenyExecOnPrivileged', 20],
  ] as const) {
    assert.ok(pluginNames(15).includes(name) && pluginNames(last).includes(name), name)
    assert.ok(!pluginNames(last + 1).includes(name), name)
  }
  const order = (release: number) => {
    const names = enabledPlugins(release, [], [])
    return names.indexOf('RuntimeClass') - names.indexOf('ValidatingAdmissionWebhook')
  }
  assert.ok(order(17) > 0 && order(18) < 0, 'RuntimeClass came after webhooks at first')
})

const spans: [name: string, since: number, until: number][] = [
  ['SecurityContextDeny', 15, 29],
  ['PodSecurityPolicy', 15, 24],
  ['PersistentVolumeLabel', 15, 30],
  ['ClusterTrustBundleAttest', 27, 37],
  ['PodTopologyLabels', 33, 37],
  ['NodeDeclaredFeatureValidator', 35, 37],
  ['PodGroupProtection', 36, 37],
  ['PodResizeValidator', 36, 37],
  ['PodGroupWorkloadExists', 36, 36],
  ['JobValidation', 36, 36],
]
for (const [name, since, until] of spans)
  test(`${name} exists from 1.${since} to 1.${until}, once`, () => {
    for (let release = 15; release <= 37; release++) {
      const found = pluginNames(release).filter((one) => one === name)
      assert.equal(found.length, release >= since && release <= until ? 1 : 0, `1.${release}`)
    }
  })

test('PodSecurity comes before PodSecurityPolicy since 1.23', () => {
  for (const release of [22, 23]) {
    const names = pluginNames(release)
    const isBefore = names.indexOf('PodSecurity') < names.indexOf('PodSecurityPolicy')
    assert.equal(isBefore, release === 23)
  }
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
