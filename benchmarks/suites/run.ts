/**
 * Runs the suite in each language on Binnacle and on a real kube-apiserver in turn, and prints the
 * seconds that each took.
 *
 *   node benchmarks/suites/run.ts --peer=DIR [--rounds=3]      DIR has kube-apiserver and etcd
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const here = import.meta.dirname
const root = resolve(here, '../..')
const { values } = parseArgs({
  options: { peer: { type: 'string' }, rounds: { type: 'string', default: '3' } },
})
const { peer } = values
if (peer === undefined) throw new Error('--peer names the folder with kube-apiserver and etcd')
const place = mkdtempSync(join(tmpdir(), 'suites-'))
const command = join(place, 'binnacle')
writeFileSync(
  command,
  `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/binnacle.js')}' "$@"\n`,
)
chmodSync(command, 0o755)

const python = ['python3', '/usr/bin/python3'].find(
  (name) => spawnSync(name, ['-c', 'import kubernetes, pytest']).status === 0,
)
/** What builds the suite, what runs it, and where. */
interface Suite {
  readonly language: string
  readonly folder: string
  readonly build?: string[]
  readonly run: string[]
}
const binary = join(place, 'suite')
const pytest = [python ?? 'python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '.']
const suites: Suite[] = [
  {
    language: 'Go, controller-runtime',
    folder: 'go',
    build: ['go', 'test', '-c', '-o', binary, '.'],
    run: [binary, '-test.count=1'],
  },
  { language: 'Python, kubernetes', folder: 'python', run: pytest },
  {
    language: 'TypeScript, client-node',
    folder: 'typescript',
    run: [process.execPath, '--test', 'widgets.test.ts'],
  },
]

function run([program = '', ...args]: string[], folder: string, onPeer: boolean) {
  const { SUITE_PEER: _, ...rest } = process.env
  const env = {
    ...rest,
    ...(onPeer && { SUITE_PEER: resolve(peer ?? '') }),
    SUITE_NODE: process.execPath,
    BINNACLE: command,
    PYTHONPATH: join(root, 'packages/python'),
    PYTHONDONTWRITEBYTECODE: '1',
    PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1',
  }
  const began = performance.now()
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: join(here, folder),
    env,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`)
  return (performance.now() - began) / 1000
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const totals = [0, 0]
console.log('| suite | Binnacle, s | kube-apiserver and etcd, s | ratio |\n|---|---:|---:|---:|')
const row = (name: string, [ours = 0, theirs = 0]: number[]) =>
  console.log(
    `| ${name} | ${ours.toFixed(1)} | ${theirs.toFixed(1)} | ${(theirs / ours).toFixed(1)} |`,
  )
for (const { language, folder, build, run: words } of suites) {
  try {
    if (build !== undefined) run(build, folder, false)
  } catch (error) {
    console.error(`left out: ${language}: ${(error as Error).message.slice(0, 300)}`)
    continue
  }
  const seconds: [number[], number[]] = [[], []]
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [i, taken] of seconds.entries()) taken.push(run(words, folder, i === 1))
  const medians = seconds.map(median)
  row(language, medians)
  for (const [i, value] of medians.entries()) totals[i] = (totals[i] ?? 0) + value
}
row('total', totals)
rmSync(place, { recursive: true })
