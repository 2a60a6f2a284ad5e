import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillAddresses } from './older-services.ts'

const v4 = ['IPv4']
const both = ['IPv6', 'IPv4']
const selector = { a: 'b' }
const row = (ipFamilies: string[], ipFamilyPolicy: string) => ({ ipFamilies, ipFamilyPolicy })

const rows: [release: number, cluster: string[], spec: object, filled: object][] = [
  [19, v4, { clusterIP: '10.0.0.1' }, {}],
  [20, v4, { clusterIP: '10.0.0.1' }, { clusterIPs: ['10.0.0.1'] }],
  [22, v4, {}, {}],
  [22, v4, { type: 'ExternalName' }, {}],
  [22, v4, { clusterIP: '10.0.0.1' }, { clusterIPs: ['10.0.0.1'], ...row(v4, 'SingleStack') }],
  [22, both, { clusterIP: '10.0.0.1' }, { clusterIPs: ['10.0.0.1'], ...row(v4, 'SingleStack') }],
  [22, v4, { clusterIP: 'fd::1' }, { clusterIPs: ['fd::1'], ...row(['IPv6'], 'SingleStack') }],
  [22, both, { clusterIPs: ['fd::1', '10.0.0.1'] }, row(both, 'RequireDualStack')],
  [
    22,
    v4,
    { clusterIP: 'None' },
    { clusterIPs: ['None'], ...row(['IPv4', 'IPv6'], 'PreferDualStack') },
  ],
  [22, v4, { clusterIPs: ['None'], selector }, row(v4, 'SingleStack')],
  [22, both, { clusterIPs: ['None'], selector }, row(both, 'PreferDualStack')],
  [22, ['IPv6'], { clusterIPs: ['None'] }, row(both, 'PreferDualStack')],
  [22, both, { clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv6'] }, {}],
]
test('single-stack services are returned with their families', () => {
  for (const [release, cluster, spec, filled] of rows) {
    const service = { spec: structuredClone(spec) }
    fillAddresses(service, cluster, { release, feature: () => release > 20 })
    assert.deepEqual(service.spec, { ...spec, ...filled }, JSON.stringify([release, spec]))
  }
})
