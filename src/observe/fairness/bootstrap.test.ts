/** The default flow schemas and priority levels on both sides of the release that changed them. */
import { type BoundaryRow, checkBoundaries } from '#api/releases/boundary.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { type FlowObject, flowSchemas, priorityLevels } from './bootstrap.ts'

const specOf = (objects: readonly FlowObject[], name: string): Loose | undefined =>
  objects.find((one) => one.name === name)?.spec

const groupsOf = (release: number, name: string): string[] =>
  specOf(flowSchemas(release), name)?.rules[0].subjects.map(({ group }: Loose) => group.name)

/** `get,create,update endpoints,configmaps` for each rule of resources of a flow schema. */
const resourcesOf = (release: number, name: string): string[] | undefined =>
  specOf(flowSchemas(release), name)?.rules[0].resourceRules.map(
    ({ verbs, resources }: Loose) => `${verbs} ${resources}`,
  )

function sharesOf(release: number, name: string): number | undefined {
  const { limited } = specOf(priorityLevels(release), name) ?? {}
  return limited?.assuredConcurrencyShares ?? limited?.nominalConcurrencyShares
}

/** Returns what differs between releases. */
const parts = {
  'subjects of global-default': (release) => groupsOf(release, 'global-default'),
  'shares of workload-low and global-default': (release) =>
    ['workload-low', 'global-default', 'catch-all'].map((name) => sharesOf(release, name)),
  'the level node-high and its schema': (release) => [
    sharesOf(release, 'node-high'),
    resourcesOf(release, 'system-node-high'),
  ],
  'resources of system-leader-election': (release) =>
    resourcesOf(release, 'system-leader-election'),
  'resources of endpoint-controller': (release) => resourcesOf(release, 'endpoint-controller'),
  'resources of workload-leader-election': (release) =>
    resourcesOf(release, 'workload-leader-election'),
} satisfies Record<string, (release: number) => unknown>

type Part = keyof typeof parts
const row = (
  part: Part,
  boundary: [number, number],
  before: unknown,
  since: unknown,
): BoundaryRow<Part, unknown> => [part, boundary, part, before, since]

const accounts = ['system:serviceaccounts']
const all = ['system:unauthenticated', 'system:authenticated']
const locks = 'get,create,update endpoints,configmaps'
const leases = 'get,create,update leases'
const endpoints = ['get,create,update endpoints']

checkBoundaries<Part, unknown>(
  (release, part) => parts[part](release),
  [
    row('subjects of global-default', [18, 19], accounts, all),
    row('shares of workload-low and global-default', [19, 20], [20, 100, 1], [100, 20, 5]),
    row(
      'the level node-high and its schema',
      [21, 22],
      [undefined, undefined],
      [40, ['* nodes,nodes/status', '* leases']],
    ),
    row('resources of system-leader-election', [23, 24], [locks, leases], [leases]),
    row('resources of endpoint-controller', [23, 24], undefined, endpoints),
    row('resources of endpoint-controller', [33, 34], endpoints, undefined),
    row('resources of workload-leader-election', [33, 34], [locks, leases], undefined),
  ],
)
