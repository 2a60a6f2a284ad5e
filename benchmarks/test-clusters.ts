/**
 * What clusters of tests cost. Measured are the start, a fork and a reset with many objects, the
 * memory of a thousand forks, and ten thousand forks in a loop. Prints one line for each figure;
 * exits with 1 where a bar is missed.
 *
 *   node --expose-gc benchmarks/test-clusters.ts [start|fork|memory|loop]…
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { startCluster, type TestCluster } from 'binnacle/testing'

const parts = process.argv.slice(2)
const has = (part: string) => parts.length === 0 || parts.includes(part)
const missed: string[] = []

function report(what: string, value: number, unit: string, max: number): void {
  console.log(`${what.padEnd(56)} ${value.toFixed(2).padStart(9)} ${unit} (at most ${max})`)
  if (value > max) missed.push(what)
}
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const residentMiB = () =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
const collected = () => {
  globalThis.gc?.()
  return residentMiB()
}
async function msOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const configMap = (i: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `c${i}`, namespace: 'default' },
  data: { text: `value ${i}` },
})
const fill = async ({ client }: TestCluster, from: number, to: number) => {
  for (let i = from; i < to; i++) await client.create(configMap(i))
}
const readOne = ({ client }: TestCluster) =>
  client.get({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } })

/** A process of its own each time: nothing is loaded, and nothing is compiled. */
function start(): void {
  const script = `
    const began = performance.now()
    const { startCluster } = await import('binnacle/testing')
    const imported = performance.now()
    const cluster = await startCluster()
    const ready = performance.now()
    await cluster.close()
    console.log(JSON.stringify([imported - began, ready - imported, ready - began]))`
  const runs = Array.from({ length: 9 }, () => {
    const args = ['--input-type=module', '-e', script]
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as number[]
  })
  const figure = (n: number) => median(runs.map((run) => run[n] ?? Number.NaN))
  report('import', figure(0), 'ms', 400)
  report('first cluster after import', figure(1), 'ms', 150)
  report('import and first cluster', figure(2), 'ms', 400)
}

async function forkAndReset(objects: number, max: number): Promise<void> {
  const cluster = await startCluster()
  await fill(cluster, 0, objects)
  const forks: number[] = []
  const opened: number[] = []
  const resets: number[] = []
  for (let i = 0; i < 15; i++) {
    let fork = cluster
    forks.push(await msOf(async () => (fork = await cluster.fork())))
    opened.push(await msOf(() => readOne(fork)))
    resets.push(await msOf(() => fork.reset()))
    await fork.close()
  }
  report(`fork with ${objects} objects`, median(forks), 'ms', max)
  report(`reset with ${objects} objects`, median(resets), 'ms', max)
  report('first request to a fork, which opens its server', median(opened), 'ms', 60)
  await cluster.close()
}

/** Processor time of one read, for the middle one of seven rounds. */
async function readMs(cluster: TestCluster): Promise<number> {
  const rounds: number[] = []
  for (let round = 0; round < 7; round++) {
    const before = process.cpuUsage()
    for (let i = 0; i < 500; i++) await readOne(cluster)
    const { user, system } = process.cpuUsage(before)
    rounds.push((user + system) / 500_000)
  }
  return median(rounds)
}

async function memoryOf(forks: number, controllers: string[] | undefined): Promise<void> {
  const cluster = await startCluster({ ...(controllers && { controllers }) })
  await fill(cluster, 0, 100)
  await readMs(cluster)
  const alone = await readMs(cluster)
  const before = collected()
  const all: TestCluster[] = []
  for (let i = 0; i < forks; i++) {
    const fork = await cluster.fork()
    await fill(fork, 100, 200)
    all.push(fork)
  }
  const which = controllers === undefined ? 'with controllers' : 'without controllers'
  report(`${forks} forks ${which}`, collected() - before, 'MiB', 1000)
  const [one] = all
  if (one !== undefined) {
    await readMs(one)
    report(
      'a read from one of them, in parts of a read before',
      (await readMs(one)) / alone,
      '×',
      1.1,
    )
  }
  await cluster.close()
}

async function loop(forks: number): Promise<void> {
  const cluster = await startCluster()
  await fill(cluster, 0, 100)
  const cycle = async (n: number) => {
    for (let i = 0; i < n; i++) {
      const fork = await cluster.fork()
      await fork.client.create(configMap(1000))
      await fork.close()
    }
    return collected()
  }
  const early = await cycle(forks / 10)
  const late = await cycle((forks * 9) / 10)
  report(`growth from fork ${forks / 10} to fork ${forks}`, late - early, 'MiB', 30)
  await cluster.close()
}

if (has('start')) start()
if (has('fork')) {
  await forkAndReset(1000, 5)
  await forkAndReset(100_000, 50)
}
if (has('memory')) {
  await memoryOf(1000, ['-*'])
  await memoryOf(1000, undefined)
}
if (has('loop')) await loop(10_000)
if (missed.length > 0) {
  console.error(`missed: ${missed.join(', ')}`)
  process.exitCode = 1
}
