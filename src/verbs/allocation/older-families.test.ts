/** The families of a service, by its request and the cluster's families. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { Family } from './address-pool.ts'
import { settleFamilies } from './older-families.ts'

const one: Family[] = ['IPv4']
const two: Family[] = ['IPv4', 'IPv6']
const six: Family[] = ['IPv6', 'IPv4']

/** Families and policy, or the rejected field. */
const cases: [what: string, spec: Loose, offered: Family[], expected: string][] = [
  ['no family or policy requested', {}, one, 'IPv4 SingleStack'],
  ['none requested, two offered', {}, two, 'IPv4 SingleStack'],
  ['none requested, two offered in the other order', {}, six, 'IPv6 SingleStack'],
  ['two preferred, one there', { ipFamilyPolicy: 'PreferDualStack' }, one, 'IPv4 PreferDualStack'],
  ['two preferred', { ipFamilyPolicy: 'PreferDualStack' }, two, 'IPv4,IPv6 PreferDualStack'],
  ['two required', { ipFamilyPolicy: 'RequireDualStack' }, six, 'IPv6,IPv4 RequireDualStack'],
  ['two required, one there', { ipFamilyPolicy: 'RequireDualStack' }, one, 'spec.ipFamilyPolicy'],
  ['a family', { ipFamilies: ['IPv6'] }, two, 'IPv6 SingleStack'],
  ['a family that is not there', { ipFamilies: ['IPv6'] }, one, 'spec.ipFamilies[0]'],
  ['two families', { ipFamilies: ['IPv6', 'IPv4'] }, two, 'IPv6,IPv4 RequireDualStack'],
  [
    'two families as one',
    { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] },
    two,
    'spec.ipFamilyPolicy',
  ],
  ['an address', { clusterIPs: ['fd00::1'] }, two, 'IPv6 SingleStack'],
  ['two addresses', { clusterIPs: ['10.0.0.1', 'fd00::1'] }, two, 'IPv4,IPv6 RequireDualStack'],
  ['an address of no family here', { clusterIPs: ['fd00::1'] }, one, 'spec.clusterIPs[0]'],
  [
    'two addresses as one',
    { ipFamilyPolicy: 'SingleStack', clusterIPs: ['10.0.0.1', 'fd00::1'] },
    two,
    'spec.ipFamilyPolicy',
  ],
  [
    'headless with a selector',
    { clusterIPs: ['None'], selector: { a: 'b' } },
    two,
    'IPv4 SingleStack',
  ],
  ['headless without', { clusterIPs: ['None'] }, one, 'IPv4,IPv6 RequireDualStack'],
  [
    'headless without a selector, one family requested',
    { clusterIPs: ['None'], ipFamilyPolicy: 'SingleStack' },
    one,
    'IPv4 SingleStack',
  ],
  ['an outside name', { type: 'ExternalName' }, two, ' '],
]
for (const [what, spec, offered, expected] of cases) {
  test(`${what}, offered ${offered}: ${expected}`, () => {
    const service = { metadata: { name: 's' }, spec: structuredClone(spec) } as KubeObject
    const settled = () => {
      settleFamilies(service, offered)
      const { ipFamilies = [], ipFamilyPolicy = '' } = service.spec
      return `${ipFamilies} ${ipFamilyPolicy}`
    }
    try {
      assert.equal(settled(), expected)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const causes = error.details?.causes as readonly { field: string }[]
      assert.equal(causes.map(({ field }) => field).join(), expected)
    }
  })
}
