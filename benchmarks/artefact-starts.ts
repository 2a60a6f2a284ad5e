/**
 * How large are the artefacts, and how fast do they start? Each is started in turns, on an empty
 * directory and again on the same, in memory of the file system's cache. The time is from the
 * start of the process to the ready line. The image is measured by its executable and libraries as
 * a root file system; starting a container takes an engine's time besides.
 *
 *   npm run release && node benchmarks/artefact-starts.ts [--rounds=5]
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const root = resolve(import.meta.dirname, '..')
const dist = join(root, 'dist')
const place = mkdtempSync(join(tmpdir(), 'artefact-starts-'))
const named = (ending: RegExp) => {
  const name = readdirSync(dist).find((name) => ending.test(name))
  if (name === undefined) throw new Error(`dist/ has no ${ending}: npm run release`)
  return join(dist, name)
}
const binary = named(/-linux-\w+$/)
const image = named(/\.oci\.tar$/)
const pack = named(/^binnacle-[\d.]+\.tgz$/)

/** The layers of the image, as an engine unpacks them. */
function unpackImage(): string {
  const [layout, to] = [join(place, 'layout'), join(place, 'root')]
  for (const folder of [layout, to]) mkdirSync(folder)
  execFileSync('tar', ['-xf', image, '-C', layout])
  const read = (path: string) => JSON.parse(readFileSync(join(layout, path), 'utf8'))
  const blob = (digest: string) => `blobs/${digest.replace(':', '/')}`
  const manifest = read(blob(read('index.json').manifests[0].digest))
  for (const { digest } of manifest.layers)
    execFileSync('tar', ['-xzf', join(layout, blob(digest)), '-C', to])
  return to
}

/** The package with the packages of this checkout: nothing is fetched. */
function unpackPackage(): string {
  execFileSync('tar', ['-xzf', pack, '-C', place])
  execFileSync('ln', ['-s', join(root, 'node_modules'), join(place, 'node_modules')])
  return join(place, 'package/bin/binnacle.js')
}

const imageRoot = unpackImage()
const commands: Record<string, { readonly command: string[]; readonly state: string }> = {
  checkout: { command: [process.execPath, join(root, 'bin/binnacle.js')], state: place },
  package: { command: [process.execPath, unpackPackage()], state: place },
  executable: { command: [binary], state: place },
  // Paths in the image are below its root.
  image: { command: ['chroot', imageRoot, '/usr/bin/binnacle'], state: '/tmp' },
}

function startOnce(command: readonly string[], dataDir: string): Promise<number> {
  const [program = '', ...args] = command
  const began = performance.now()
  const child = spawn(program, [...args, '--secure-port=0', `--data-dir=${dataDir}`])
  let shown = ''
  let readyMs = 0
  child.stderr.on('data', (text) => (shown += text))
  child.stdout.on('data', (text) => {
    shown += text
    if (readyMs > 0 || !shown.includes('Binnacle is ready')) return
    readyMs = performance.now() - began
    child.kill('SIGTERM')
  })
  return new Promise((done, failed) =>
    child.on('close', () => (readyMs > 0 ? done(readyMs) : failed(new Error(shown)))),
  )
}

const times = new Map<string, number[]>()
const note = (name: string, ms: number) => times.set(name, [...(times.get(name) ?? []), ms])
for (let round = 0; round <= Number(values.rounds); round++)
  for (const [name, { command, state }] of Object.entries(commands)) {
    const dataDir = join(state, `data-${name}-${round}`)
    const [first, again] = [await startOnce(command, dataDir), await startOnce(command, dataDir)]
    // The first round fills caches of compiled code and of files.
    if (round === 0) continue
    note(`${name}, empty directory`, first)
    note(`${name}, again`, again)
  }

const megabytes = (path: string) => `${(statSync(path).size / 1e6).toFixed(1)} MB`
console.log(
  `package ${megabytes(pack)}, executable ${megabytes(binary)}, image ${megabytes(image)}`,
)
console.log(`load average ${loadavg()[0]?.toFixed(1)}`)
console.log('| start | median | range |\n|---|---:|---:|')
for (const [name, all] of times) {
  const sorted = all.sort((a, b) => a - b).map(Math.round)
  const median = sorted[Math.floor(sorted.length / 2)]
  console.log(`| ${name} | ${median} ms | ${sorted[0]} to ${sorted.at(-1)} ms |`)
}
rmSync(place, { recursive: true, force: true })
