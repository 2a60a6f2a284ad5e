/** Kinds that a release serves only with --runtime-config and feature gates. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { type RunningServer, startServer } from './running-server.ts'

let server: RunningServer
before(async () => {
  server = await startServer([
    '--emulated-version=1.37',
    '--controllers=-*',
    '--runtime-config=api/all=true',
    '--feature-gates=GenericWorkload=true,EvictionRequestAPI=true,CompositePodGroup=true',
  ])
})
after(() => server.stop())

const inDefault = (group: string, plural: string) => `/apis/${group}/namespaces/default/${plural}`
const scheduling = 'scheduling.k8s.io/v1beta1'
const lifecycle = 'lifecycle.k8s.io/v1alpha1'
const target = { pod: { name: 'a', uid: 'f47ac10b-58cc-4372-a567-0e02b2c3d479' } }
const basic = { basic: {} }
const disruptionMode = { single: {} }
const condition = {
  type: 'A',
  status: 'True',
  reason: 'A',
  message: '',
  lastTransitionTime: '2024-01-01T00:00:00Z',
}

/** The path, the written spec, the stored spec, the generation, and the status that it gets. */
const cases: [path: string, spec: Loose, stored: Loose, generation: number, status?: Loose][] = [
  [
    inDefault(scheduling, 'podgroups'),
    { schedulingPolicy: { gang: { minCount: 2 } } },
    { schedulingPolicy: { gang: { minCount: 2 } }, disruptionMode, priority: 0 },
    7,
    { conditions: [condition] },
  ],
  [
    inDefault('scheduling.k8s.io/v1alpha3', 'compositepodgroups'),
    { workloadRef: { workloadName: 'a', templateName: 'b' }, schedulingPolicy: basic },
    {
      workloadRef: { workloadName: 'a', templateName: 'b' },
      schedulingPolicy: basic,
      disruptionMode,
      priority: 0,
    },
    7,
    { conditions: [condition] },
  ],
  [
    inDefault(scheduling, 'workloads'),
    { podGroupTemplates: [{ name: 'a', schedulingPolicy: basic }] },
    { podGroupTemplates: [{ name: 'a', schedulingPolicy: basic, schedulingConstraints: null }] },
    7,
  ],
  [
    inDefault(lifecycle, 'evictionrequests'),
    { target, requester: 'x.y/a', intent: 'Eviction' },
    { target, requester: 'x.y/a', intent: 'Eviction' },
    1,
    { conditions: [condition] },
  ],
  [inDefault(lifecycle, 'evictions'), { target }, { target }, 1, { conditions: [condition] }],
  [
    '/apis/resource.k8s.io/v1alpha3/resourcepoolstatusrequests',
    { driver: 'a.b' },
    { driver: 'a.b', limit: 100 },
    7,
    { poolCount: 1 },
  ],
]
for (const [path, spec, stored, generation, status] of cases) {
  test(`${path}: spec and status are written apart`, async () => {
    const metadata = { name: 'a', generation: 7 }
    const made = await server.ask('POST', path, { metadata, spec, status })
    assert.equal(made.status, 201, made.body.message)
    assert.deepEqual(made.body.spec, stored)
    assert.equal(made.body.metadata.generation, generation)
    if (status === undefined) return
    const empty = made.body.status
    assert.ok(empty === undefined || Object.keys(empty).length === 0)
    const merge = { 'content-type': 'application/merge-patch+json' }
    const change = { metadata: { labels: { a: 'b' } }, spec: null, status }
    const main = await server.ask('PATCH', `${path}/a`, { ...change, spec: {} }, merge)
    assert.deepEqual([main.body.status, main.body.metadata.labels], [empty, { a: 'b' }])
    const { body } = await server.ask('PATCH', `${path}/a/status`, { spec: null, status }, merge)
    assert.deepEqual([body.spec, body.status], [stored, status], body.message)
  })
}

test('a lease candidate has semantic versions and a known strategy', async () => {
  const spec = { leaseName: 'a', binaryVersion: '1', strategy: 'X' }
  const path = inDefault('coordination.k8s.io/v1beta1', 'leasecandidates')
  const { status, body } = await server.ask('POST', path, { metadata: { name: 'a' }, spec })
  assert.equal(status, 422)
  assert.deepEqual(
    body.details.causes.map(({ field }: Loose) => field),
    ['spec.binaryVersion', 'spec.strategy.strategy'],
  )
})

test('a claim to an environment file is not optional', async () => {
  const fileKeyRef = { volumeName: 'v', path: 'p', key: 'k' }
  const container = { name: 'c', image: 'i', env: [{ name: 'A', valueFrom: { fileKeyRef } }] }
  const spec = { containers: [container], volumes: [{ name: 'v', emptyDir: {} }] }
  const path = '/api/v1/namespaces/default/podtemplates'
  const made = await server.ask('POST', path, { metadata: { name: 'a' }, template: { spec } })
  const [{ valueFrom }] = made.body.template.spec.containers[0].env
  assert.deepEqual(valueFrom.fileKeyRef, { ...fileKeyRef, optional: false })
})
