import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { Registry } from '#observe/metrics/registry.ts'
import { flowSchemas, priorityLevels } from './bootstrap.ts'
import { FlowControl } from './flow-control.ts'
import { flowMeters } from './flow-meters.ts'

const objectOf = ({ name, spec }: { name: string; spec: Loose }) =>
  ({ metadata: { name, uid: `uid-${name}` }, spec }) as KubeObject

function make(registry = new Registry({ release: 22 })) {
  const flows = new FlowControl({
    release: 22,
    concurrencyMax: 600,
    waitMsMax: 1000,
    after: () => () => {},
    meters: flowMeters(registry, 22),
    report: () => {},
  })
  flows.configure(priorityLevels(22).map(objectOf), flowSchemas(22).map(objectOf), 0)
  return flows
}

const everybody = 'system:authenticated'
type Ask = Partial<{
  verb: string
  group: string
  resource: string
  subresource: string
  namespace: string
  path: string
}>
const cases: [string, string[], Ask, string][] = [
  // user                                       groups                     request
  // schema
  ['admin', ['system:masters', everybody], { resource: 'pods' }, 'exempt'],
  ['joe', [everybody], { resource: 'pods', namespace: 'a' }, 'global-default'],
  ['joe', [everybody], { path: '/healthz' }, 'probes'],
  ['joe', [everybody], { path: '/healthz/etcd' }, 'probes'],
  ['joe', [everybody], { path: '/version' }, 'global-default'],
  [
    'system:node:n',
    ['system:nodes', everybody],
    { resource: 'nodes', subresource: 'status' },
    'system-node-high',
  ],
  [
    'system:node:n',
    ['system:nodes', everybody],
    { resource: 'pods', namespace: 'a' },
    'system-nodes',
  ],
  [
    'system:kube-scheduler',
    [everybody],
    { resource: 'leases', group: 'coordination.k8s.io', namespace: 'x' },
    'system-leader-election',
  ],
  ['system:kube-scheduler', [everybody], { resource: 'pods', namespace: 'x' }, 'kube-scheduler'],
  [
    'system:serviceaccount:kube-system:a',
    ['system:serviceaccounts', everybody],
    { resource: 'pods' },
    'kube-system-service-accounts',
  ],
  [
    'system:serviceaccount:other:a',
    ['system:serviceaccounts', everybody],
    { resource: 'pods' },
    'service-accounts',
  ],
  ['nobody', [], { resource: 'pods' }, 'catch-all'],
]
for (const [name, groups, ask, expected] of cases) {
  test(`${name} ${JSON.stringify(ask)} → ${expected}`, () => {
    const request = {
      isResource: ask.path === undefined,
      verb: 'get',
      group: '',
      resource: '',
      subresource: '',
      namespace: '',
      path: '',
      ...ask,
    }
    assert.equal(make().classify({ name, groups }, request).name, expected)
  })
}

test('seats are divided by shares and rounded up', () => {
  const limits = Object.fromEntries(
    [...make().levels].map(({ name, queues }) => [name, queues?.limits.concurrency]),
  )
  assert.deepEqual(limits, {
    'catch-all': 13,
    exempt: undefined,
    system: 74,
    'node-high': 98,
    'leader-election': 25,
    'workload-high': 98,
    'workload-low': 245,
    'global-default': 49,
  })
})

test('mandatory objects work before any configuration, and after they are deleted', () => {
  const flows = make()
  flows.configure([], [], 0)
  assert.deepEqual(
    flows.schemas.map(({ name }) => name),
    ['exempt', 'catch-all'],
  )
  assert.deepEqual([...flows.levels].map(({ name }) => name).sort(), ['catch-all', 'exempt'])
})

test('a schema without its level is not used', () => {
  const flows = make()
  const lost = {
    name: 'lost',
    mandatory: false,
    spec: {
      ...flowSchemas(22)[0].spec,
      matchingPrecedence: 1,
      priorityLevelConfiguration: { name: 'nowhere' },
    },
  }
  flows.configure(priorityLevels(22).map(objectOf), [...flowSchemas(22), lost].map(objectOf), 0)
  assert.ok(!flows.schemas.some(({ name }) => name === 'lost'))
})

/** The levels after each change, before the last request of global-default ends. */
const changes: [name: string, has: boolean[], isThere: boolean][] = [
  ['a deleted level serves its queued requests and is then removed', [false], false],
  ['a level that changes before it is deleted is removed too', [true, false], false],
  ['a deleted level that is made again stays', [false, true], true],
  ['a level that changes stays', [true], true],
]
for (const [name, has, isThere] of changes)
  test(`${name}, and the others get the seats`, () => {
    const flows = make()
    const change = (all: boolean) => {
      const isMeant = (one: { name: string }) => all || one.name !== 'global-default'
      const levels = priorityLevels(22).filter(isMeant).map(objectOf)
      flows.configure(levels, flowSchemas(22).filter(isMeant).map(objectOf), 0)
    }
    const places = () =>
      [...flows.levels].map(({ name, queues }) => [name, queues?.limits.concurrency])
    change(isThere)
    const expected = places()
    change(true)
    const level = [...flows.levels].find((one) => one.name === 'global-default')
    assert.ok(level)
    const index = level.queues?.enter({ hand: [0] } as never, 0, '') as number
    for (const all of has) change(all)
    const leaving = [...flows.levels].find((one) => one.name === 'global-default')
    assert.equal(leaving?.quiescing, !isThere)
    level.queues?.leave(index, 1, 1)
    flows.left(level, 1)
    assert.deepEqual(places(), expected)
  })

test('removed schemas and levels are not shown, unless they have running requests', async () => {
  const registry = new Registry({ release: 22 })
  const flows = make(registry)
  const levels = priorityLevels(22).map(objectOf)
  const schemas = flowSchemas(22).map(objectOf)
  const limited = levels.find(({ metadata }) => metadata.name === 'workload-low')?.spec as Loose
  const passing = ['idle', 'busy'].map((name) => ({
    level: objectOf({ name, spec: limited }),
    schema: objectOf({
      name,
      spec: { priorityLevelConfiguration: { name }, matchingPrecedence: 1, rules: [] },
    }),
  }))
  const shown = async () => [
    ...new Set((await registry.page()).match(/(?<=priority_level=")(idle|busy)/g)),
  ]
  flows.configure(
    [...levels, ...passing.map(({ level }) => level)],
    [...schemas, ...passing.map(({ schema }) => schema)],
    0,
  )
  const meter = flows.schemas.find(({ name }) => name === 'busy')?.meter
  meter?.executing.add(1)
  assert.deepEqual((await shown()).sort(), ['busy', 'idle'])
  flows.configure(levels, schemas, 0)
  assert.deepEqual(await shown(), ['busy'])
  meter?.executing.add(-1)
  flows.configure(levels, schemas, 0)
  assert.deepEqual(await shown(), [])
})
