/**
 * Replays recorded conversations of real servers against this one, release by release, and holds
 * the floor: how many answers are the same may only grow. See README.md in this folder.
 *
 *   npm run conformance -- [--release 1.22]… [--only REGEX] [--show N] [--raise] [--server URL]
 *     [-- SERVER FLAGS]
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { disagreements, luckyAnswers, readExpectedFailures } from './expected-failures.ts'
import { startForReplay, tokens } from './server.ts'
import {
  belowFloor,
  type Floor,
  raisedFloor,
  readTally,
  type Tally,
  tallyTable,
  withoutLuck,
} from './tally.ts'

const here = import.meta.dirname
const root = resolve(here, '..')
const floorPath = join(here, 'floor.json')
const expectedPath = join(here, 'expected-failures.txt')

/** The releases that are replayed, those that the server can be. */
const releasesReplayed = ['1.15', '1.21', '1.22', '1.37']
/** Enough to hear of every difference; the replayer counts them down. */
const showAll = 1_000_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    release: { type: 'string', multiple: true },
    only: { type: 'string' },
    show: { type: 'string', default: '0' },
    jobs: { type: 'string', default: '8' },
    raise: { type: 'boolean', default: false },
    server: { type: 'string' },
    golden: {
      type: 'string',
      default: process.env.BINNACLE_GOLDEN ?? join(root, '../shared/golden'),
    },
    replay: {
      type: 'string',
      default: process.env.BINNACLE_REPLAY ?? join(root, '../shared/replay/replay.mjs'),
    },
  },
})

/** Cases that show everything a server serves: they are replayed before any case adds to it. */
const freshCases = '^(aggregated|discovery)/'
const otherCases = '^(?!(aggregated|discovery)/)'

/**
 * Runs the replayer and returns its output. Its exit code is 0 only if every answer was the same;
 * the floor decides here.
 */
function replay(url: string, file: string, only: string): Promise<string> {
  const args = [values.replay, '--server', url, '--show', String(showAll), '--jobs', values.jobs]
  for (const [name, token] of Object.entries(tokens)) args.push('--token', `${name}=${token}`)
  args.push('--only', only)
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [...args, file], { stdio: ['ignore', 'pipe', 'inherit'] })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    child.on('error', failed)
    child.on('close', () => done(Buffer.concat(chunks).toString('utf8')))
  })
}

/** The family of every case in a recording. */
function familiesIn(file: string): Map<string, string> {
  const lines = gunzipSync(readFileSync(file)).toString('utf8').split('\n').filter(Boolean)
  return new Map(
    lines.map((line) => {
      const { name, family } = JSON.parse(line) as { name: string; family: string }
      return [name, family]
    }),
  )
}

function showDifferences(output: string, limit: number): void {
  const lines = output.split('\n')
  let shown = 0
  for (const [i, line] of lines.entries()) {
    if (!line.startsWith('✗') || shown >= limit) continue
    shown++
    console.log(line)
    if (lines[i + 1]?.startsWith('    ')) console.log(lines[i + 1])
  }
}

async function replayRelease(release: string, file: string): Promise<Tally> {
  const server =
    values.server === undefined
      ? await startForReplay(release, positionals)
      : { url: values.server, stop: async () => {} }
  try {
    const selections = values.only === undefined ? [freshCases, otherCases] : [values.only]
    let output = ''
    for (const only of selections) output += await replay(server.url, file, only)
    showDifferences(output, Number(values.show))
    return readTally(output)
  } finally {
    await server.stop()
  }
}

/**
 * A whole release is played again before it is found wanting: a busy machine makes races of its
 * own.
 */
const attemptsMax = 3

/** What is wrong with a release, after as many tries as it is given. */
async function judge(
  release: string,
  file: string,
  floor: Floor,
  expected: ReturnType<typeof readExpectedFailures>,
): Promise<string[]> {
  const families = familiesIn(file)
  for (let attempt = 1; ; attempt++) {
    const tally = await replayRelease(release, file)
    console.log(tallyTable(release, tally, floor[release]))
    if (values.only !== undefined) return []
    const steady = withoutLuck(tally, luckyAnswers(release, tally.different, expected, families))
    if (values.raise) floor[release] = raisedFloor(steady, floor[release] ?? {})
    const complaints = [
      ...belowFloor(release, steady, floor[release] ?? {}),
      ...disagreements(release, tally.different, expected, families),
    ]
    if (complaints.length === 0 || values.raise || attempt === attemptsMax) return complaints
    for (const complaint of complaints) console.error(`attempt ${attempt}: ${complaint}`)
  }
}

async function main(): Promise<number> {
  const floor = JSON.parse(readFileSync(floorPath, 'utf8')) as Floor
  const expected = readExpectedFailures(readFileSync(expectedPath, 'utf8'))
  const complaints: string[] = []
  let replayed = 0
  for (const release of values.release ?? releasesReplayed) {
    const file = join(values.golden, `${release}.open.jsonl.gz`)
    if (!existsSync(file)) {
      console.log(`release ${release}: no recording at ${file}`)
      continue
    }
    replayed++
    complaints.push(...(await judge(release, file, floor, expected)))
  }
  if (values.raise) writeFileSync(floorPath, `${JSON.stringify(floor, null, 2)}\n`)
  for (const complaint of complaints) console.error(complaint)
  if (replayed === 0) console.error(`nothing to replay in ${values.golden}`)
  return complaints.length > 0 || replayed === 0 ? 1 : 0
}

process.exitCode = await main()
