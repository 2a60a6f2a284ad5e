/**
 * The entry point `binnacle/testing`: one listener for any number of clusters. The first cluster
 * has the address of the listener; each fork has its own path. `close()` leaves nothing behind.
 *
 *   import { startCluster } from 'binnacle/testing'
 *   const cluster = await startCluster()
 *   const mine = await cluster.fork()
 *   await mine.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } })
 *   await mine.reset()
 *   await cluster.close()
 */
import { ClusterHost, type ClusterOptions } from './cluster-host.ts'
import { forkPerTestWith, type Prepare, type TestHooks } from './fork-per-test.ts'
import { type Exploration, type ExplorationReport, explore as exploreRuns } from './explore.ts'
import type { TestCluster } from './test-cluster.ts'

export type { ClusterOptions } from './cluster-host.ts'
export type { Accident, Exploration, ExplorationReport, Finding } from './explore.ts'
export type { FaultRule, FaultMatch, FaultAction, InjectedFault } from './faults/fault-rule.ts'
export type { FailedRequest } from './failed-request.ts'
export type { Prepare, TestHooks } from './fork-per-test.ts'
export type { Informer, InformerOptions } from './object-informer.ts'
export type { ListQuery, ObjectList, TypedObject, WatchOptions } from './object-reference.ts'
export type { RequestRecord } from './request-log.ts'
export type { Snapshot } from './snapshot.ts'
export type { TestCluster } from './test-cluster.ts'
export type { KubeConfigOptions } from './kubeconfig.ts'
export type { TestClock } from './test-clock.ts'
export type { TestClient } from './test-client.ts'
export type { WatchEvent } from './watch-events.ts'

/** Starts a server in this process. Resolves with its first cluster when that is ready. */
export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const host = new ClusterHost(options)
  await host.start()
  const first = host.first()
  await first.open()
  return first
}

/** Gives each test a fork: see `fork-per-test.ts`. */
export function forkPerTest(
  hooks: TestHooks,
  { prepare, ...options }: ClusterOptions & { readonly prepare?: Prepare } = {},
): () => TestCluster {
  return forkPerTestWith(() => startCluster(options), hooks, prepare)
}

/** Runs a controller with an accident at each of its writes: see `explore.ts`. */
export function explore(exploration: Exploration): Promise<ExplorationReport> {
  return exploreRuns(exploration)
}
