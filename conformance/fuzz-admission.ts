/**
 * Random admission policies with their bindings, to a real server and to this one, and random
 * requests that meet them: the same verdicts, messages, warnings and objects.
 *
 *   node tools/run.mjs file conformance/fuzz-admission.ts --peer URL --ours URL
 *     [--seed N] [--count N] [--keep-going]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ComparedResponse } from './compared-response.ts'
import { Random } from './random.ts'
import { keptPolicy, RandomAdmission } from './random-admission.ts'
import { settingsOf, showDifference, type Step } from './two-servers.ts'

/** kube-apiserver puts a policy in force about a second after it was written. */
const settleMs = 1600
const requestsPerSeed = 25

const { seed, count, keepGoing, servers } = await settingsOf(process.argv.slice(2))
const tally = { policies: 0, accepted: 0, requests: 0, denied: 0, differences: 0 }

/** Addresses and ports are chosen by each server. */
function comparable(seen: ComparedResponse): ComparedResponse {
  const body = seen.body as { spec?: Record<string, unknown> } | null
  if (typeof body?.spec?.clusterIP !== 'string') return seen
  const { clusterIP: _, clusterIPs: _all, healthCheckNodePort: _port, ...spec } = body.spec
  return { ...seen, body: { ...body, spec } }
}

for (const step of keptPolicy()) await servers.ask(step, 'kept')
await sleep(settleMs)
for (let at = seed; at < seed + count; at++) {
  const id = `policies-fuzz-${at}-${Date.now().toString(36)}`
  const random = new RandomAdmission(new Random(at), id)
  await servers.makeNamespace(id)
  const hold = async (step: Step) => {
    const { want, difference } = await servers.ask(step, id, comparable)
    if (difference === undefined) return want.status
    tally.differences++
    console.log(`✗ seed ${at}: ${step.method} ${step.path} ${JSON.stringify(step.body ?? '')}`)
    console.log(`    ${showDifference(difference)}`)
    return want.status
  }
  const before = tally.differences
  const writes = random.writes()
  tally.policies += (writes.length - 1) / 2
  for (const step of writes)
    if ((await hold(step)) === 201 && step.path.endsWith('policies')) tally.accepted++
  await sleep(settleMs)
  for (let i = 0; i < requestsPerSeed; i++) {
    tally.requests++
    const status = await hold(random.request())
    if (status === 422 || status === 403) tally.denied++
  }
  if (tally.differences > before)
    for (const { method, path, body } of writes.slice(1))
      console.log(`    of ${method} ${path} ${JSON.stringify(body)}`)
  for (const step of random.cleaning()) await servers.ask(step, id)
  await servers.deleteNamespace(id)
  if (tally.differences > 0 && !keepGoing) break
}
console.log(JSON.stringify(tally))
process.exitCode = tally.differences > 0 ? 1 : 0
