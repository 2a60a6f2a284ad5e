import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { contextFor, inDefault, linesOf } from './behaviour.suite.ts'
import { withSctpRules } from './sctp.ts'
import { behaviourOf } from './table.ts'

const ports = [{ protocol: 'TCP' }, { protocol: 'SCTP' }]
const spec = { initContainers: [{ ports }], containers: [{}, { ports }] }
const template = { spec }
const inSpec = (path: string) => [
  `${path}.initContainers[0].ports[1].protocol`,
  `${path}.containers[1].ports[1].protocol`,
]

const rows: [resource: string, object: Loose, paths: string[]][] = [
  ['/services', { spec: { ports } }, ['spec.ports[1].protocol']],
  ['/endpoints', { subsets: [{}, { ports }] }, ['subsets[1].ports[1].protocol']],
  ['/pods', { spec }, inSpec('[].spec')],
  ['/podtemplates', { template }, inSpec('template.spec')],
  ['/replicationcontrollers', { spec: { template } }, inSpec('spec.template.spec')],
  ['apps/deployments', { spec: { template } }, inSpec('spec.template.spec')],
  ['batch/jobs', { spec: { template } }, inSpec('spec.template.spec')],
  [
    'batch/cronjobs',
    { spec: { jobTemplate: { spec: { template } } } },
    inSpec('spec.jobTemplate.spec.template.spec'),
  ],
  [
    'networking.k8s.io/networkpolicies',
    { spec: { ingress: [{ ports }], egress: [{ ports: [] }, { ports }] } },
    ['spec.ingress[0].ports[1].protocol', 'spec.egress[1].ports[1].protocol'],
  ],
  ['/configmaps', { spec: { ports } }, []],
]

const off = contextFor({ release: 15 })
const on = contextFor({ release: 15 }, ['SCTPSupport'])

for (const [resource, object, paths] of rows) {
  test(`${resource} have no ports for SCTP where the gate is off`, () => {
    const rules = withSctpRules({}, resource)
    const created = (context = off) =>
      linesOf(rules.validateCreate?.(inDefault(object), context) ?? [])
    const wrong = paths.map(
      (path) => `${path}: Unsupported value: "SCTP": supported values: "TCP", "UDP"`,
    )
    assert.deepEqual(created(), wrong)
    assert.deepEqual(created(on), [])
    const updated = (old: Loose) =>
      linesOf(rules.validateUpdate?.(inDefault(object), inDefault(old), off) ?? [])
    assert.deepEqual(updated({}), wrong)
    assert.deepEqual(updated(object), [], 'those who have them keep them')
  })
}

test('releases without the gate ask nothing', () => {
  const lines = (release: number) =>
    linesOf(
      behaviourOf('/endpoints', release)?.validateCreate?.(
        inDefault({
          subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 1, protocol: 'SCTP' }] }],
        }),
        contextFor({ release }),
      ) ?? [],
    ).length
  assert.deepEqual([15, 19, 20, 22].map(lines), [1, 1, 0, 0])
})
