/**
 * Searches for bugs of a controller that appear only by bad luck. It runs one scenario repeatedly.
 * Each run has one accident at one write of the controller. A correct controller reaches the same
 * end state in every run.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { FailedRequest } from './failed-request.ts'
import type { RequestRecord } from './request-log.ts'
import type { TestCluster } from './test-cluster.ts'
import { WatchGate } from './faults/watch-gate.ts'

/**
 *   - `intermediate`: the controller is stopped when its write commits, and started again.
 *   - `stale`: the same, and the new start reads from a replica that is some revisions behind.
 *   - `unobserved`: the watches of the controller pause after the write, and then deliver only the
 *   last state.
 */
export type Accident = 'intermediate' | 'stale' | 'unobserved'

export interface Exploration {
  /** Each run gets a fork of this cluster. */
  readonly cluster: TestCluster
  /** The prefix of the user agent that identifies the controller's requests. */
  readonly userAgent: string
  /** Starts the controller. */
  readonly controller: (cluster: TestCluster) => Promise<{ stop(): Promise<unknown> | void }>
  /** Makes the changes to which the controller reacts. */
  readonly scenario: (cluster: TestCluster) => Promise<unknown>
  /**
   * Returns what must be equal at the end of every run. Default: all objects of the kinds that the
   * controller writes.
   */
  readonly state?: (cluster: TestCluster) => Promise<unknown>
  readonly accidents?: readonly Accident[]
  /** The maximum number of writes to explore. */
  readonly writesMax?: number
  /** A run ends when the controller has sent nothing for this time. */
  readonly quietMs?: number
  /** By how many revisions stale reads are behind. */
  readonly staleRevisions?: number
}

export interface Finding {
  readonly accident: Accident
  /** The number of the write with the accident, counted from 1. */
  readonly write: number
  readonly request: { readonly method: string; readonly url: string }
  /** The end state of the run without an accident, and of this run. */
  readonly expected: unknown
  readonly actual: unknown
}

export interface ExplorationReport {
  readonly runs: number
  /** The controller's writes in a run without an accident. */
  readonly writes: number
  readonly findings: readonly Finding[]
  /**
   * Runs whose accident never happened, because the controller wrote less often than in the first
   * run. They prove nothing: the controller or the scenario depends on time.
   */
  readonly missed: readonly { readonly accident: Accident; readonly write: number }[]
}

const writeVerbs = ['create', 'update', 'patch', 'delete', 'deletecollection']
const allAccidents: readonly Accident[] = ['intermediate', 'stale', 'unobserved']
const defaults = { accidents: allAccidents, writesMax: 50, quietMs: 100, staleRevisions: 2 }
/** The maximum duration of a run: a controller that never rests has a bug of another kind. */
const runMsMax = 30_000
/** How long a run waits for the write with the accident; a busy machine needs a while. */
const accidentMsMax = 10_000
/**
 * The wait for quiet is divided into this many steps, with some turns of the event loop after each.
 */
const quietSteps = 10
const turnsPerStep = 5

type Plan = Required<Omit<Exploration, 'state'>> & Pick<Exploration, 'state'>

interface Run {
  readonly state: unknown
  readonly writes: readonly RequestRecord[]
  /** The write with the accident, if it happened. */
  readonly struck: RequestRecord | undefined
}

/** Runs the scenario once without an accident, and once with each accident at each write. */
export async function explore(exploration: Exploration): Promise<ExplorationReport> {
  const plan: Plan = { ...defaults, ...exploration }
  const normal = await runOnce(plan)
  const count = Math.min(normal.writes.length, plan.writesMax)
  const expected = normal.state
  const findings: Finding[] = []
  const missed: Place[] = []
  for (let write = 1; write <= count; write++)
    for (const accident of plan.accidents) {
      const { state: actual, struck } = await runOnce(plan, { accident, write })
      if (struck === undefined) {
        missed.push({ accident, write })
        continue
      }
      if (JSON.stringify(actual) === JSON.stringify(expected)) continue
      const { method, url } = struck
      findings.push({ accident, write, request: { method, url }, expected, actual })
    }
  const runs = 1 + count * plan.accidents.length
  return { runs, writes: normal.writes.length, findings, missed }
}

interface Place {
  readonly accident: Accident
  readonly write: number
}

async function runOnce(plan: Plan, place?: Place): Promise<Run> {
  const fork = await plan.cluster.fork()
  const happened = new AbortController()
  const gate = new WatchGate()
  let struck: RequestRecord | undefined
  let running: Promise<{ stop(): Promise<unknown> | void }> | undefined
  const stop = async () => (await running)?.stop()
  try {
    if (place !== undefined) {
      const { accident, write } = place
      fork.faults.add({
        match: { verb: 'watch', userAgent: plan.userAgent },
        action: { watch: { gate } },
      })
      const happen = async (request: RequestRecord) => {
        struck = request
        happened.abort()
        if (accident === 'unobserved') return gate.hold()
        // The stopped controller never gets the response, so stopping it must not wait for that.
        const stopped = stop()
        if (accident === 'stale') addStale(fork, plan)
        running = Promise.resolve(stopped).then(() => plan.controller(fork))
      }
      const match = { verb: writeVerbs, userAgent: plan.userAgent, nth: write }
      fork.faults.add({ match, action: { call: (request) => void happen(request) } })
      if (accident !== 'unobserved') fork.faults.add({ match, action: { cut: 'after' } })
    }
    running = plan.controller(fork)
    await running
    await plan.scenario(fork)
    if (place !== undefined) await waitFor(happened.signal, accidentMsMax)
    await quiet(fork, plan)
    // The accident is over, and the controller must recover.
    gate.release()
    fork.faults.clear()
    await quiet(fork, plan)
    await stop()
    // Accidents are counted by the fault rule, which sees only successful writes.
    // A write whose response the accident cut off has the status 0.
    const sent = writesOf(fork, plan).filter(({ status }) => status < 300)
    const writes = sent.filter(({ status }) => status > 0)
    return { state: await (plan.state ?? writtenObjects(sent))(fork), writes, struck }
  } finally {
    await fork.close()
  }
}

function addStale(fork: TestCluster, { userAgent, staleRevisions }: Plan): void {
  fork.faults.add({ match: { userAgent }, action: { stale: { revisions: staleRevisions } } })
}

const writeMethods = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const isWrite = ({ method }: RequestRecord) => writeMethods.has(method)
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

/**
 * All objects of the collections that were written, without fields that differ between any two
 * runs.
 */
function writtenObjects(writes: readonly RequestRecord[]) {
  return async ({ client }: TestCluster): Promise<unknown> => {
    const places = new Set(writes.map(({ method, url }) => collectionOf(method, url)))
    const state: Record<string, unknown> = {}
    for (const place of [...places].sort()) {
      const list = await client.request('GET', place).catch(unlessNotStored)
      if (list === undefined) continue
      const { items = [] } = list as { items?: KubeObject[] }
      const texts = items.map((item) => JSON.stringify(comparable(item)))
      state[place] = texts.sort().map((text) => JSON.parse(text))
    }
    return state
  }
}

/** Objects such as a SubjectAccessReview can be created only. */
function unlessNotStored(error: unknown): undefined {
  if (error instanceof FailedRequest && (error.code === 404 || error.code === 405)) return undefined
  throw error
}

/** The path of the collection: `/api/v1/namespaces/default/configmaps` for an object in it. */
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
