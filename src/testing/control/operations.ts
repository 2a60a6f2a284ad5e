/**
 * The operations of the control API, one row per operation. The router, the OpenAPI document and a
 * test read the rows. `{cluster}` in a path is the name of a cluster; the first cluster is called
 * `first`.
 */
import type { ClusterHost } from '#testing/cluster-host.ts'
import type { FaultRule } from '#testing/faults/fault-rule.ts'
import { actionSchema, matchSchema } from '#testing/faults/fault-schemas.ts'
import { type StoreFault, storeFaults } from '#testing/faults/faulty-store.ts'
import type { Snapshot } from '#testing/snapshot.ts'
import { readSnapshot } from '#testing/snapshot-file.ts'
import type { TestCluster } from '#testing/test-cluster.ts'
import type { ValueSchema } from '#testing/value-schema.ts'
import { ControlError } from './control-error.ts'

export interface ControlCall {
  readonly host: ClusterHost
  /** The snapshots of this server, by name. */
  readonly snapshots: Map<string, Snapshot>
  readonly parameters: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

export interface ControlOperation {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly summary: string
  /** JSON schemas of the members of the body. */
  readonly body?: Readonly<Record<string, ValueSchema>>
  /** The members that a body must have. */
  readonly required?: readonly string[]
  readonly run: (call: ControlCall) => unknown
}

const text: ValueSchema = { type: 'string' }
const file: ValueSchema = {
  type: 'string',
  description: 'The path of a file on the machine of the server.',
}
const newName: ValueSchema = {
  type: 'string',
  description: 'A DNS label. The server chooses a name if absent.',
}

function clusterOf({ host, parameters }: ControlCall): TestCluster {
  const cluster = host.find(parameters['cluster'] ?? '')
  if (cluster === undefined)
    throw new ControlError(404, `there is no cluster ${JSON.stringify(parameters['cluster'])}`)
  return cluster
}

const describe = (cluster: TestCluster) => ({
  name: cluster.name,
  url: cluster.url,
  token: cluster.token,
  kubeconfig: cluster.kubeconfig,
  revision: cluster.revision,
  time: new Date(cluster.clock.now()).toISOString(),
})

const nameIn = ({ body }: ControlCall) => body['name'] as string | undefined

function snapshotIn({ snapshots, body }: ControlCall): Snapshot {
  const { snapshot, file } = body as { snapshot?: string; file?: string }
  if (file !== undefined) return readSnapshot(file)
  const found = snapshots.get(snapshot ?? '')
  if (found === undefined)
    throw new ControlError(404, `there is no snapshot ${JSON.stringify(snapshot)}`)
  return found
}

function takeSnapshot(call: ControlCall) {
  const { file } = call.body as { file?: string }
  const snapshot = clusterOf(call).snapshot({ file })
  if (file !== undefined) return { file, revision: snapshot.revision }
  const name = `snapshot-${call.snapshots.size + 1}`
  call.snapshots.set(name, snapshot)
  return { snapshot: name, revision: snapshot.revision }
}

async function setClock(call: ControlCall) {
  const { clock } = clusterOf(call)
  const { freeze, advance, resume } = call.body as {
    freeze?: boolean | string
    advance?: string | number
    resume?: boolean
  }
  if (freeze) clock.freeze(freeze === true ? undefined : freeze)
  if (advance !== undefined) await clock.advance(advance)
  if (resume) clock.resume()
  return { time: new Date(clock.now()).toISOString(), frozen: clock.isFrozen }
}

async function setStore(call: ControlCall) {
  const { store } = clusterOf(call)
  const { fail, slowMs, compact } = call.body as {
    fail?: StoreFault | 'none'
    slowMs?: number
    compact?: boolean
  }
  if (fail === 'none') store.recover()
  else if (fail !== undefined) store.fail(fail)
  if (slowMs !== undefined) store.slow(slowMs)
  if (compact) await store.compact()
  return { trouble: store.trouble() ?? '' }
}

function removeFault(call: ControlCall) {
  const { faults } = clusterOf(call)
  if (!faults.remove(Number(call.parameters['rule'])))
    throw new ControlError(404, `there is no rule ${call.parameters['rule']}`)
  return {}
}

export const operations: readonly ControlOperation[] = [
  {
    method: 'GET',
    path: '/clusters',
    summary: 'List the clusters.',
    run: ({ host }) => ({ clusters: host.clusters.map(describe) }),
  },
  {
    method: 'POST',
    path: '/clusters',
    summary: 'Make a cluster as the server was at its start, or from a snapshot.',
    body: { name: newName, snapshot: text, file },
    run: (call) => {
      const { snapshot, file } = call.body
      const state =
        snapshot === undefined && file === undefined ? call.host.begin() : snapshotIn(call)
      return describe(call.host.add(state, nameIn(call)))
    },
  },
  {
    method: 'GET',
    path: '/clusters/{cluster}',
    summary: 'Read one cluster.',
    run: (call) => describe(clusterOf(call)),
  },
  {
    method: 'DELETE',
    path: '/clusters/{cluster}',
    summary: 'Close a cluster. The first one stays as long as the server.',
    run: async (call) => {
      const cluster = clusterOf(call)
      if (cluster.name === 'first') throw new ControlError(400, 'the first cluster stays open')
      await cluster.close()
      return {}
    },
  },
  {
    method: 'POST',
    path: '/clusters/{cluster}/fork',
    summary: 'Make a copy of a cluster as it is now.',
    body: { name: newName },
    run: async (call) => describe(await clusterOf(call).fork(nameIn(call))),
  },
  {
    method: 'POST',
    path: '/clusters/{cluster}/reset',
    summary: 'Set a cluster back to its beginning.',
    run: async (call) => {
      await clusterOf(call).reset()
      return describe(clusterOf(call))
    },
  },
  {
    method: 'POST',
    path: '/clusters/{cluster}/snapshot',
    summary: 'Keep the state of a cluster, in the server or in a file.',
    body: { file },
    run: takeSnapshot,
  },
  {
    method: 'POST',
    path: '/clusters/{cluster}/restore',
    summary: 'Set a cluster to the state of a snapshot.',
    body: { snapshot: text, file },
    run: async (call) => {
      await clusterOf(call).restore(snapshotIn(call))
      return describe(clusterOf(call))
    },
  },
  {
    method: 'POST',
    path: '/clusters/{cluster}/faults',
    summary: 'Add a fault rule.',
    body: { match: matchSchema, action: actionSchema },
    required: ['action'],
    run: (call) => ({ rule: clusterOf(call).faults.add(call.body as unknown as FaultRule) }),
  },
  {
    method: 'GET',
    path: '/clusters/{cluster}/faults',
    summary: 'List the faults that were injected, oldest first.',
    run: (call) => ({ injected: clusterOf(call).faults.log }),
  },
  {
    method: 'DELETE',
    path: '/clusters/{cluster}/faults',
    summary: 'Remove all fault rules and empty the list of injected faults.',
    run: (call) => {
      clusterOf(call).faults.clear()
      return {}
    },
  },
  {
    method: 'DELETE',
    path: '/clusters/{cluster}/faults/{rule}',
    summary: 'Remove one fault rule.',
    run: removeFault,
  },
  {
    method: 'POST',
    path: '/clusters/{cluster}/store',
    summary: 'Make the store full, unavailable or slow, or forget its history.',
    body: {
      fail: { type: 'string', enum: [...storeFaults, 'none'] },
      slowMs: { type: 'number', minimum: 0 },
      compact: { type: 'boolean' },
    },
    run: setStore,
  },
  {
    method: 'POST',
    path: '/clusters/{cluster}/clock',
    summary: 'Freeze the time, move it forward, or let it run.',
    body: {
      freeze: { oneOf: [{ type: 'boolean' }, { type: 'string', format: 'date-time' }] },
      advance: {
        description: 'A duration: 90s, 1h30m, 2d; or milliseconds.',
        oneOf: [{ type: 'string' }, { type: 'number', minimum: 0 }],
      },
      resume: { type: 'boolean' },
    },
    run: setClock,
  },
  {
    method: 'GET',
    path: '/clusters/{cluster}/requests',
    summary: 'List the requests that the cluster received, oldest first.',
    run: (call) => ({ requests: clusterOf(call).requests }),
  },
]
