import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { contextFor, inDefault, linesOf } from './behaviour.suite.ts'
import { withSctpRules } from './sctp.ts'
import { behaviourOf } from './rules.fixture.ts'

const ports = [{ protocol: 'TCP' }, { protocol: 'SCTP' }]
const spec = { initContainers: [{ ports }], containers: [{}, { ports }] }
const template = { spec }
const inSpec = (path: string) => [
  `${path}.initContainers[0].ports[1].protocol`,
  `${path}.containers[1].ports[1].protocol`,
]

const rows: [folder: string, object: Loose, paths: string[]][] = [
  ['core/service', { spec: { ports } }, ['spec.ports[1].protocol']],
  ['core/endpoints', { subsets: [{}, { ports }] }, ['subsets[1].ports[1].protocol']],
  ['core/pod', { spec }, inSpec('[].spec')],
  ['core/pod-template', { template }, inSpec('template.spec')],
  ['core/replication-controller', { spec: { template } }, inSpec('spec.template.spec')],
  ['apps/deployment', { spec: { template } }, inSpec('spec.template.spec')],
  ['batch/job', { spec: { template } }, inSpec('spec.template.spec')],
  [
    'batch/cron-job',
    { spec: { jobTemplate: { spec: { template } } } },
    inSpec('spec.jobTemplate.spec.template.spec'),
  ],
  [
    'networking/network-policy',
    { spec: { ingress: [{ ports }], egress: [{ ports: [] }, { ports }] } },
    ['spec.ingress[0].ports[1].protocol', 'spec.egress[1].ports[1].protocol'],
  ],
  ['core/config-map', { spec: { ports } }, []],
]

const off = contextFor({ release: 15 })
const on = contextFor({ release: 15 }, ['SCTPSupport'])

for (const [folder, object, paths] of rows) {
  test(`${folder}: no ports for SCTP where the gate is off`, () => {
    const rules = withSctpRules({}, folder)
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

test('releases without the feature gate have no rule', () => {
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
