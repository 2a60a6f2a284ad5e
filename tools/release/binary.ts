/**
 * `npm run binary [-- --target=linux-arm64]`: the server as one executable that needs nothing else,
 * by Node's own `--build-sea`. It holds Node, the bundle with its packages, the facts, and, where
 * the target is this machine, the compiled code of a start. For macOS it must be signed on a Mac
 * (`codesign --sign - FILE`), as every executable there.
 */
import { execFileSync, spawnSync } from 'node:child_process'
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
import memory from '../memory-settings.json' with { type: 'json' }
import { bundleManifest } from './build.ts'
import { bundle, bundleEntries } from './bundle.ts'
import { initialStoreText } from './initial-store.ts'
import { hostTarget, nodeExecutable } from './node-executable.ts'
import { stripExecutable } from './strip-executable.ts'

const root = resolve(import.meta.dirname, '../..')
const firstCode = join(import.meta.dirname, 'single-executable.cjs')

export const binaryName = (version: string, target: string) => `binnacle-${version}-${target}`

/** Makes the executable for a target in a folder, and gives its path. */
export async function makeBinary(target: string, to: string): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const work = mkdtempSync(join(tmpdir(), 'binnacle-binary-'))
  try {
    await bundle(join(work, 'bundle'), { packages: true })
    writeFileSync(join(work, 'bundle', 'package.json'), bundleManifest())
    writeFileSync(join(work, 'bundle', 'initial-store.json'), await initialStoreText())
    cpSync(join(root, 'package.json'), join(work, 'package.json'))
    cpSync(join(root, 'facts'), join(work, 'facts'), { recursive: true })
    const node = join(work, 'node')
    writeFileSync(node, stripExecutable(nodeExecutable(target)), { mode: 0o755 })
    const cache = join(work, 'server.cache')
    if (target === hostTarget) compile(node, work, cache)
    const output = join(to, binaryName(version, target))
    mkdirSync(to, { recursive: true })
    const assets = { ...assetsIn(work), ...(target === hostTarget && { 'server.cache': cache }) }
    const config = {
      main: firstCode,
      mainFormat: 'commonjs',
      executable: node,
      output,
      disableExperimentalSEAWarning: true,
      useSnapshot: false,
      useCodeCache: false,
      execArgv: memory.engineFlags,
      // NODE_OPTIONS=--inspect works as with any Node.
      execArgvExtension: 'env',
      assets,
    }
    const configFile = join(work, 'sea.json')
    writeFileSync(configFile, JSON.stringify(config))
    execFileSync(process.execPath, ['--build-sea', configFile], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    return output
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function assetsIn(work: string): Record<string, string> {
  const facts = readdirSync(join(work, 'facts')).filter((name) => name.endsWith('.json'))
  return {
    ...Object.fromEntries(
      Object.keys(bundleEntries).map((name) => [name, join(work, 'bundle', name)]),
    ),
    ...Object.fromEntries(facts.map((name) => [`facts/${name}`, join(work, 'facts', name)])),
    'package.json': join(work, 'package.json'),
    'bundle/package.json': join(work, 'bundle', 'package.json'),
    'bundle/initial-store.json': join(work, 'bundle', 'initial-store.json'),
  }
}

/** A start of the bundle on this machine, whose compiled code every later start takes. */
function compile(node: string, work: string, cache: string): void {
  const flags = ['--secure-port=0', `--data-dir=${join(work, 'data')}`]
  const args = [...memory.engineFlags, firstCode, join(work, 'bundle'), cache, ...flags]
  const { status, stderr } = spawnSync(node, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the bundle does not start: ${stderr}`)
}

if (import.meta.main) {
  const options = { target: { type: 'string', default: hostTarget } } as const
  const { target } = parseArgs({ options }).values
  const path = await makeBinary(target, join(root, 'dist'))
  const bytes = readFileSync(path).length
  process.stdout.write(`${path} (${(bytes / 1e6).toFixed(0)} MB)\n`)
}
