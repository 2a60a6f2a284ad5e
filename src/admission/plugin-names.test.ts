import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enabledPlugins, pluginNames } from './plugin-names.ts'

test('what 1.22 runs by default, in order', () => {
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

test('older releases know fewer', () => {
  assert.ok(!pluginNames(15).includes('RuntimeClass'))
  assert.ok(!enabledPlugins(17, [], []).includes('CertificateApproval'))
  assert.ok(!pluginNames(20).includes('DenyServiceExternalIPs'))
})

test('older releases know others', () => {
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

test('added ones run where they belong, taken ones not at all', () => {
  const names = enabledPlugins(22, ['AlwaysPullImages'], ['Priority'])
  assert.ok(names.indexOf('AlwaysPullImages') < names.indexOf('DefaultTolerationSeconds'))
  assert.ok(!names.includes('Priority'))
})

test('unknown names are refused with those there are', () => {
  assert.throws(
    () => enabledPlugins(22, ['Nope'], []),
    /enable-admission-plugins plugin "Nope" is unknown; known are AlwaysAdmit, /,
  )
  assert.throws(
    () => enabledPlugins(22, ['Priority'], ['Priority']),
    /\[Priority\] in enable-admission-plugins and disable-admission-plugins overlapped/,
  )
})
