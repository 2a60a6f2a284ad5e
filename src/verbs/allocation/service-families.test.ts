/** The families of a service by its request, its previous state and the cluster's blocks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Family } from './address-pool.ts'
import { keepsPreference, settleFamilies } from './service-families.ts'

const one: Family[] = ['IPv4']
const two: Family[] = ['IPv4', 'IPv6']
const context = { feature: () => true }
const withSpec = (spec: Loose): KubeObject => ({
  metadata: { name: 'a' },
  spec: { type: 'ClusterIP', ...structuredClone(spec) },
})
const dual = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'], ipFamilies: two }

/** Families and policy, or the rejected fields. */
const cases: [what: string, spec: Loose, offered: Family[], expected: string, old?: Loose][] = [
  ['no family or policy requested', {}, one, 'IPv4 SingleStack'],
  ['two preferred, one there', { ipFamilyPolicy: 'PreferDualStack' }, one, 'IPv4 PreferDualStack'],
  ['two preferred', { ipFamilyPolicy: 'PreferDualStack' }, two, 'IPv4,IPv6 PreferDualStack'],
  ['two required, one there', { ipFamilyPolicy: 'RequireDualStack' }, one, 'spec.ipFamilyPolicy'],
  ['two families need a policy', { ipFamilies: two }, two, 'spec.ipFamilyPolicy'],
  ['a family that is not there', { ipFamilies: ['IPv6'] }, one, 'spec.ipFamilies[0]'],
  ['an address', { clusterIP: 'fd00::1', clusterIPs: ['fd00::1'] }, two, 'IPv6 SingleStack'],
  [
    'an address of no family here',
    { clusterIP: 'fd00::1', clusterIPs: ['fd00::1'] },
    one,
    'spec.clusterIPs[0]',
  ],
  [
    'headless without a selector has both',
    { clusterIP: 'None', clusterIPs: ['None'] },
    one,
    'IPv4,IPv6 RequireDualStack',
  ],
  [
    'headless with a selector has one',
    { clusterIP: 'None', clusterIPs: ['None'], selector: { a: 'b' } },
    one,
    'IPv4 SingleStack',
  ],
  ['an external name', { type: 'ExternalName' }, one, ' '],
  [
    'an update keeps the policy',
    { ...dual },
    two,
    'IPv4,IPv6 RequireDualStack',
    {
      ...dual,
      ipFamilyPolicy: 'RequireDualStack',
    },
  ],
  [
    'one stack releases the second',
    { ...dual, ipFamilyPolicy: 'SingleStack' },
    two,
    'IPv4 SingleStack',
    { ...dual, ipFamilyPolicy: 'RequireDualStack' },
  ],
  [
    'two stacks do not',
    { ...dual, clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'RequireDualStack' },
    two,
    'spec.ipFamilyPolicy spec.ipFamilyPolicy',
    { ...dual, ipFamilyPolicy: 'RequireDualStack' },
  ],
]
for (const [what, spec, offered, expected, old] of cases) {
  test(what, () => {
    const service = withSpec(spec)
    const errors = settleFamilies(service, old && withSpec(old), offered, context)
    const { ipFamilies = [], ipFamilyPolicy = '' } = service.spec
    const got = errors.map(({ field }) => field).join(' ') || `${ipFamilies} ${ipFamilyPolicy}`
    assert.equal(got, expected)
  })
}

test('a service with PreferDualStack stays unchanged when the cluster gets a second family', () => {
  const spec = { ...dual, clusterIPs: ['10.0.0.1'], ipFamilies: one }
  const old = withSpec({ ...spec, ipFamilyPolicy: 'PreferDualStack' })
  const next = withSpec({ ...spec, ipFamilyPolicy: 'PreferDualStack' })
  assert.ok(keepsPreference(next, old))
  settleFamilies(next, old, two, context)
  assert.deepEqual(next.spec.ipFamilies, one)
})
