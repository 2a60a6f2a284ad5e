/**
 * `npm run release`: every artefact of a version in dist/, with checksums and a bill of materials.
 * It publishes nothing; the last line says how.
 *
 *   npm run release -- --tag                              tags the commit as vX.Y.Z
 *   npm run release -- --targets=linux-x64,linux-arm64    executables for several systems
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeBinary } from './binary.ts'
import { makeImage, makeRoot } from './image.ts'
import { hostTarget } from './node-executable.ts'
import { sbom } from './sbom.ts'
import { nextStep, tagName, tagProblem } from './tag.ts'

const root = resolve(import.meta.dirname, '../..')
const say = (text: string) => process.stderr.write(`binnacle: ${text}\n`)

/** Files of deploy/ that are released as they are. */
const plainFiles = [
  'systemd/binnacle.service',
  'kubernetes/binnacle.yaml',
  'monitoring/alerts.yaml',
  'monitoring/grafana-dashboard.json',
]

export async function release(to: string, targets: readonly string[]): Promise<string[]> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  say('npm package …')
  execFileSync('npm', ['pack', '--loglevel=error', `--pack-destination=${to}`], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  for (const target of targets) {
    say(`executable for ${target} …`)
    const binary = await makeBinary(target, to)
    // Libraries of another system are not on this machine.
    if (target === hostTarget && target.startsWith('linux')) {
      say(`image for ${target} …`)
      const work = mkdtempSync(join(tmpdir(), 'binnacle-image-'))
      makeRoot(binary, work)
      makeImage(work, version, target, to)
      rmSync(work, { recursive: true })
    }
  }
  packChart(version, to)
  for (const path of plainFiles)
    cpSync(join(root, 'deploy', path), join(to, path.replace(/^.*\//, '')))
  writeFileSync(join(to, `binnacle-${version}.cdx.json`), `${JSON.stringify(sbom(), null, 2)}\n`)
  const files = readdirSync(to).sort()
  const sums = files.map((name) => `${sha256(join(to, name))}  ${name}\n`)
  writeFileSync(join(to, 'SHA256SUMS'), sums.join(''))
  return [...files, 'SHA256SUMS']
}

/** As `helm package` does: one folder named as the chart. */
function packChart(version: string, to: string): void {
  const chart = readFileSync(join(root, 'deploy/helm/binnacle/Chart.yaml'), 'utf8')
  if (!chart.includes(`\nversion: ${version}\n`) || !chart.includes(`\nappVersion: ${version}\n`))
    throw new Error(`deploy/helm/binnacle/Chart.yaml is not of version ${version}`)
  const options = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner']
  execFileSync('tar', [
    ...options,
    '-czf',
    join(to, `binnacle-chart-${version}.tgz`),
    '-C',
    join(root, 'deploy/helm'),
    'binnacle',
  ])
}

const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

if (import.meta.main) {
  const options = {
    targets: { type: 'string', default: hostTarget },
    tag: { type: 'boolean', default: false },
  } as const
  const { targets, tag } = parseArgs({ options }).values
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const problem = tagProblem(version, readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))
  if (tag && problem !== undefined) throw new Error(problem)
  const files = await release(join(root, 'dist'), targets.split(','))
  for (const name of files) process.stdout.write(`dist/${name}\n`)
  if (tag) {
    const message = `Binnacle ${version}`
    execFileSync('git', ['tag', '--annotate', tagName(version), '--message', message], {
      cwd: root,
    })
  }
  say(nextStep(version, tag))
}
