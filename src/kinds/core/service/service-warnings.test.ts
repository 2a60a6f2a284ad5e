import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { contextFor, inDefault } from '#kinds/all-kinds/behaviour.suite.ts'
import { serviceWarnings } from './service-warnings.ts'

const hints = 'service.kubernetes.io/topology-aware-hints'
const cases: [what: string, spec: Loose, since: number, warning: string][] = [
  [
    'zeros that lead',
    { clusterIP: '010.0.0.1', clusterIPs: ['010.0.0.1'] },
    27,
    'spec.clusterIPs[0]: IP address was accepted, but will be invalid in a future Kubernetes release: ParseAddr("010.0.0.1"): IPv4 field has octet with leading zero',
  ],
  [
    'a name without effect',
    { externalName: 'a.b' },
    28,
    'spec.externalName is ignored when spec.type is not "ExternalName"',
  ],
  [
    'addresses without effect',
    { type: 'ExternalName', externalIPs: ['1.2.3.4'] },
    28,
    'spec.externalIPs is ignored when spec.type is "ExternalName"',
  ],
  [
    'affinity without an address',
    { clusterIP: 'None', sessionAffinity: 'ClientIP' },
    34,
    'spec.SessionAffinity is ignored for headless services',
  ],
  [
    'a deprecated distribution',
    { trafficDistribution: 'PreferClose' },
    35,
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  ],
  [
    'deprecated addresses',
    { externalIPs: ['1.2.3.4'] },
    36,
    'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
  ],
]
const warningsOf = (spec: Loose, release: number, annotations = {}) =>
  serviceWarnings(
    inDefault({ spec: { type: 'ClusterIP', sessionAffinity: 'None', ...spec } }, { annotations }),
    contextFor({ release }),
  )
for (const [what, spec, since, warning] of cases) {
  test(`${what}: a warning since 1.${since}`, () => {
    assert.deepEqual(warningsOf(spec, since - 1), [])
    assert.deepEqual(warningsOf(spec, since), [warning])
  })
}

test('every type of warning has its first and last release', () => {
  assert.deepEqual(
    cases.map(([, , since]) => since),
    [27, 28, 28, 34, 35, 36],
  )
  const releases = [26, 27, 33]
  const counts = releases.map((release) => warningsOf({}, release, { [hints]: '' }).length)
  assert.deepEqual(counts, [0, 1, 1])
})
