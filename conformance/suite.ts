/**
 * Runs specs of Kubernetes' conformance suite. A process of the suite takes seconds to start, so it
 * runs several specs. It has a time limit; specs that it did not reach run in another process.
 *
 *   node tools/run.mjs file conformance/suite.ts --e2e PATH [--only REGEX] [--seconds 900]
 *       [--batch 12] [--at-once 2] [--kubeconfig PATH] [--specs FILE]
 *
 * `--e2e` is the compiled program `e2e.test` of the release. Without `--kubeconfig`, a server of
 * this checkout starts with the controllers of workloads and one node that is ready. The specs of
 * `suite-specs.txt` need no kubelet.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startServer } from '../test/running-server.ts'
import { readyNode, suiteFlags } from './suite-server.ts'

const { values } = parseArgs({
  options: {
    e2e: { type: 'string' },
    kubeconfig: { type: 'string' },
    only: { type: 'string' },
    specs: { type: 'string', default: join(import.meta.dirname, 'suite-specs.txt') },
    seconds: { type: 'string', default: '900' },
    batch: { type: 'string', default: '12' },
    'at-once': { type: 'string', default: '2' },
  },
})
if (values.e2e === undefined) throw new Error('--e2e is missing: the path of the program e2e.test')
const program = values.e2e
const only = new RegExp(values.only ?? '')
const limitSeconds = Number(values.seconds)

interface Result {
  readonly spec: string
  readonly state: string
  readonly seconds: number
  readonly failure: string
}

interface Report {
  readonly State: string
  readonly RunTime: number
  readonly LeafNodeType: string
  readonly LeafNodeText: string
  readonly ContainerHierarchyTexts: string[] | null
  readonly Failure?: { readonly Message: string; readonly Location: { readonly FileName: string } }
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function argumentsFor(specs: readonly string[], kubeconfig: string, report: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    '--provider=local',
    '--num-nodes=1',
    '--minStartupPods=0',
    '--system-pods-startup-timeout=5s',
    '--node-schedulable-timeout=20s',
    '--prepull-images=false',
    '--dump-logs-on-failure=false',
    '--disable-log-dump=true',
    `--ginkgo.focus=(${specs.map(escaped).join('|')})$`,
    `--ginkgo.timeout=${limitSeconds}s`,
    '--ginkgo.grace-period=10s',
    '--ginkgo.no-color',
    `--ginkgo.json-report=${report}`,
  ]
}

/** The results of those specs that the process reached. */
async function run(specs: readonly string[], kubeconfig: string): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'suite-'))
  const report = join(folder, 'report.json')
  const options = { stdio: 'ignore', cwd: folder } as const
  const child = spawn(program, argumentsFor(specs, kubeconfig, report), options)
  const end = new Promise((resolve) => child.once('exit', resolve))
  const timer = setTimeout(() => child.kill('SIGKILL'), (limitSeconds + 60) * 1000)
  await end
  clearTimeout(timer)
  try {
    return resultsOf(specs, readFileSync(report, 'utf8'))
  } catch (error) {
    const failure = (error as Error).message
    return specs.map((spec) => ({ spec, state: 'no report', seconds: limitSeconds, failure }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function resultsOf(specs: readonly string[], json: string): Result[] {
  const reports: Report[] = JSON.parse(json)[0]?.SpecReports ?? []
  const before = reports.find(
    ({ LeafNodeType, State }) => LeafNodeType !== 'It' && State !== 'passed',
  )
  const byName = new Map(
    reports.map((one) => [
      [...(one.ContainerHierarchyTexts ?? []), one.LeafNodeText].join(' '),
      one,
    ]),
  )
  return specs.flatMap((spec): Result[] => {
    const found = byName.get(spec)
    if (found === undefined) return [{ spec, state: 'not found', seconds: 0, failure: '' }]
    if (found.State !== 'skipped') return [resultOf(spec, found)]
    return before === undefined ? [] : [resultOf(spec, before)]
  })
}

function resultOf(spec: string, { State: state, RunTime, Failure }: Report): Result {
  const place = Failure?.Location.FileName.split('/').slice(-2).join('/')
  const failure = Failure === undefined ? '' : `${place}: ${Failure.Message.slice(0, 1500)}`
  return { spec, state, seconds: RunTime / 1e9, failure }
}

function show({ spec, state, seconds, failure }: Result): void {
  console.log(`${state.padEnd(9)} ${seconds.toFixed(1).padStart(6)} s  ${spec}`)
  if (failure !== '') console.log(`    ${failure.replaceAll('\n', '\n    ')}`)
}

/** Serial specs run after the others, and only those of one process at a time. */
async function runAll(specs: readonly string[], kubeconfig: string): Promise<Result[]> {
  const isSerial = (spec: string) => /\[(Serial|Disruptive)\]/.test(spec)
  const results: Result[] = []
  const work = async (queue: string[]) => {
    while (queue.length > 0) {
      const batch = queue.splice(0, Number(values.batch))
      const reached = await run(batch, kubeconfig)
      const left = batch.filter((spec) => !reached.some((result) => result.spec === spec))
      if (reached.length > 0) queue.push(...left)
      else
        reached.push(...left.map((spec) => ({ spec, state: 'skipped', seconds: 0, failure: '' })))
      reached.forEach(show)
      results.push(...reached)
    }
  }
  const shared = specs.filter((spec) => !isSerial(spec))
  await Promise.all(Array.from({ length: Number(values['at-once']) }, () => work(shared)))
  await work(specs.filter(isSerial))
  return results
}

const specs = readFileSync(values.specs, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#') && only.test(line))
const server = values.kubeconfig === undefined ? await startServer(suiteFlags) : undefined
try {
  if (server !== undefined) await readyNode(server)
  const kubeconfig = values.kubeconfig ?? join(server?.dataDir ?? '', 'admin.kubeconfig')
  const results = await runAll(specs, kubeconfig)
  const passed = results.filter(({ state }) => state === 'passed').length
  console.log(`${passed} of ${specs.length} passed`)
  if (passed < specs.length) process.exitCode = 1
} finally {
  await server?.stop()
}
