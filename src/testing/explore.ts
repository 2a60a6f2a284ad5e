/**
 * Looks for bugs of a controller that only bad luck shows. It runs one scenario again and again;
 * each run has one accident at one write of the controller. A correct controller ends in the same
 * state every time.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { RequestRecord } from './request-log.ts'
import type { TestCluster } from './test-cluster.ts'
import { WatchGate } from './faults/watch-gate.ts'

/**
 * - `intermediate`: the controller dies as its write commits, and starts anew.
 * - `stale`: the same, and the new start reads from a replica that is some revisions behind.
 * - `unobserved`: the watches of the controller pause after the write, and then deliver only the
 *   last state.
 */
export type Accident = 'intermediate' | 'stale' | 'unobserved'

export interface Exploration {
  /** Each run gets a fork of it. */
  readonly cluster: TestCluster
  /** The beginning of the user agent by which the requests of the controller are known. */
  readonly userAgent: string
  /** Starts the controller. */
  readonly controller: (cluster: TestCluster) => Promise<{ stop(): Promise<unknown> | void }>
  /** Does what the controller reacts to. */
  readonly scenario: (cluster: TestCluster) => Promise<unknown>
  /**
   * What must be the same at the end of every run. Without it: all objects of the kinds that the
   * controller writes.
   */
  readonly state?: (cluster: TestCluster) => Promise<unknown>
  readonly accidents?: readonly Accident[]
  /** Explores at most this many writes. */
  readonly writesMax?: number
  /** A run is over when the controller has sent nothing for this time. */
  readonly quietMs?: number
  /** How far behind stale reads are. */
  readonly staleRevisions?: number
}

export interface Finding {
  readonly accident: Accident
  /** The write at which the accident happened, counted from 1. */
  readonly write: number
  readonly request: { readonly method: string; readonly url: string }
  /** The end state without an accident, and that of this run. */
  readonly expected: unknown
  readonly actual: unknown
}

export interface ExplorationReport {
  readonly runs: number
  /** Writes of the controller in a run without an accident. */
  readonly writes: number
  readonly findings: readonly Finding[]
}

const writeVerbs = ['create', 'update', 'patch', 'delete', 'deletecollection']
const allAccidents: readonly Accident[] = ['intermediate', 'stale', 'unobserved']
const defaults = { accidents: allAccidents, writesMax: 50, quietMs: 100, staleRevisions: 2 }
/** A controller that never rests has a bug of another kind; its run ends after this. */
const runMsMax = 30_000
/** How long a run waits for the write of its accident; on a busy machine that takes a while. */
const accidentMsMax = 10_000
/** Quiet is watched in this many steps, with some turns of the event loop after each. */
const quietSteps = 10
const turnsPerStep = 5

type Plan = Required<Omit<Exploration, 'state'>> & Pick<Exploration, 'state'>

interface Run {
  readonly state: unknown
  readonly writes: readonly RequestRecord[]
}

/** Runs the scenario once without and once with each accident at each write. */
export async function explore(exploration: Exploration): Promise<ExplorationReport> {
  const plan: Plan = { ...defaults, ...exploration }
  const normal = await runOnce(plan)
  const count = Math.min(normal.writes.length, plan.writesMax)
  const expected = normal.state
  const findings: Finding[] = []
  for (let write = 1; write <= count; write++)
    for (const accident of plan.accidents) {
      const { state: actual, writes } = await runOnce(plan, { accident, write })
      if (JSON.stringify(actual) === JSON.stringify(expected)) continue
      const { method, url } = (writes[write - 1] ?? normal.writes[write - 1]) as RequestRecord
      findings.push({ accident, write, request: { method, url }, expected, actual })
    }
  return { runs: 1 + count * plan.accidents.length, writes: normal.writes.length, findings }
}

interface Place {
  readonly accident: Accident
  readonly write: number
}

async function runOnce(plan: Plan, place?: Place): Promise<Run> {
  const fork = await plan.cluster.fork()
  const happened = new AbortController()
  const gate = new WatchGate()
  let running: Promise<{ stop(): Promise<unknown> | void }> | undefined
  const stop = async () => (await running)?.stop()
  try {
    if (place !== undefined) {
      const { accident, write } = place
      fork.faults.add({
        match: { verb: 'watch', userAgent: plan.userAgent },
        action: { watch: { gate } },
      })
      const happen = async () => {
        happened.abort()
        if (accident === 'unobserved') return gate.hold()
        // The dead controller never sees the response, so its stop must not wait for that.
        const stopped = stop()
        if (accident === 'stale') addStale(fork, plan)
        running = Promise.resolve(stopped).then(() => plan.controller(fork))
      }
      const match = { verb: writeVerbs, userAgent: plan.userAgent, nth: write }
      fork.faults.add({ match, action: { call: () => void happen() } })
      if (accident !== 'unobserved') fork.faults.add({ match, action: { cut: 'after' } })
    }
    running = plan.controller(fork)
    await running
    await plan.scenario(fork)
    if (place !== undefined) await waitFor(happened.signal, accidentMsMax)
    await quiet(fork, plan)
    // The accident is over: the controller must find its way from here.
    gate.release()
    fork.faults.clear()
    await quiet(fork, plan)
    await stop()
    const writes = writesOf(fork, plan)
    return { state: await (plan.state ?? writtenObjects(writes))(fork), writes }
  } finally {
    await fork.close()
  }
}

function addStale(fork: TestCluster, { userAgent, staleRevisions }: Plan): void {
  fork.faults.add({ match: { userAgent }, action: { stale: { revisions: staleRevisions } } })
}

const isWrite = ({ method }: RequestRecord) => method !== 'GET'
const writesOf = ({ requests }: TestCluster, { userAgent }: Plan) =>
  requests.filter((one) => one.userAgent.startsWith(userAgent) && isWrite(one))

async function waitFor(signal: AbortSignal, msMax: number): Promise<void> {
  await sleep(msMax, undefined, { signal }).catch((error: Error) => {
    if (error.name !== 'AbortError') throw error
  })
}

/**
 * Resolves when the controller has sent no request for some time. The time is divided into steps:
 * on a busy machine a single timer can fire before the controller had a turn.
 */
async function quiet({ requests }: TestCluster, { userAgent, quietMs }: Plan): Promise<void> {
  const count = () => requests.filter((one) => one.userAgent.startsWith(userAgent)).length
  const endAt = performance.now() + runMsMax
  let before = -1
  for (let now = count(); now !== before && performance.now() < endAt; now = count()) {
    before = now
    for (let step = 0; step < quietSteps; step++) {
      await sleep(quietMs / quietSteps)
      for (let turns = 0; turns < turnsPerStep; turns++) await turn()
    }
  }
}

/** All objects at the places that were written to, without what differs between any two runs. */
function writtenObjects(writes: readonly RequestRecord[]) {
  return async ({ client }: TestCluster): Promise<unknown> => {
    const places = new Set(writes.map(({ method, url }) => collectionOf(method, url)))
    const state: Record<string, unknown> = {}
    for (const place of [...places].sort()) {
      const list = (await client.request('GET', place)) as { items?: KubeObject[] }
      const texts = (list.items ?? []).map((item) => JSON.stringify(comparable(item)))
      state[place] = texts.sort().map((text) => JSON.parse(text))
    }
    return state
  }
}

/** `/api/v1/namespaces/default/configmaps` of the path of an object in it. */
function collectionOf(method: string, url: string): string {
  const [path = ''] = url.split('?')
  if (method === 'POST') return path
  const parts = path.split('/')
  const isInNamespace =
    parts.includes('namespaces') && parts.indexOf('namespaces') + 2 < parts.length
  const depth = parts[1] === 'api' ? 3 : 4
  return parts.slice(0, depth + (isInNamespace ? 3 : 1)).join('/')
}

/** Values that the server chooses: they differ between any two runs. */
const allocated = new Set([
  ...['uid', 'resourceVersion', 'managedFields', 'creationTimestamp', 'generation'],
  ...['clusterIP', 'clusterIPs', 'nodePort', 'healthCheckNodePort'],
])

function comparable(object: KubeObject): unknown {
  const kept = JSON.parse(
    JSON.stringify(object, (member, value) => (allocated.has(member) ? undefined : value)),
  )
  const { generateName } = object.metadata
  if (generateName !== undefined) kept.metadata.name = `${generateName}*`
  return kept
}
