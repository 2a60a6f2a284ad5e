/**
 * The version information of this server, in kube-apiserver's format. /version and the metrics
 * report it. In a checkout the commit is read from .git; an installed package has it in its
 * manifest. This code never runs git.
 */
import { readFileSync } from 'node:fs'
import { embeddedFile } from '#base/embedded-file.ts'
import { type VersionInfo, versionInfo } from '#discovery/version.ts'

/** Git writes this hash for "no commit". */
const noCommit = '0'.repeat(40)

const isCommit = (text: unknown): text is string =>
  typeof text === 'string' && /^[0-9a-f]{40,64}$/.test(text)

function textOf(file: URL): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // The value is absent if .git does not exist or has another layout.
    return ''
  }
}

/**
 * The commit that HEAD of a checkout refers to, directly or by a branch. A branch has its own file,
 * or is a line of packed-refs.
 */
export function checkedOutCommit(root: URL): string | undefined {
  const git = new URL('.git/', root)
  const head = textOf(new URL('HEAD', git)).trim()
  const branch = /^ref: (refs\/\S+)$/.exec(head)?.[1]
  if (branch === undefined) return isCommit(head) ? head : undefined
  const own = textOf(new URL(branch, git)).trim()
  if (isCommit(own)) return own
  const packed = textOf(new URL('packed-refs', git)).split('\n')
  const found = packed.find((line) => line.endsWith(` ${branch}`))?.split(' ')[0]
  return isCommit(found) ? found : undefined
}

/** `built` is the manifest of an installed package; undefined in a checkout. */
export function sourceCommit(
  built = new URL('../package.json', import.meta.url),
  root = new URL('../../', import.meta.url),
): string {
  const manifest = embeddedFile('bundle/package.json') ?? textOf(built)
  const { gitCommit } = manifest === '' ? {} : (JSON.parse(manifest) as { gitCommit?: unknown })
  return isCommit(gitCommit) ? gitCommit : (checkedOutCommit(root) ?? noCommit)
}

const systems: ReadonlyMap<string, string> = new Map([['win32', 'windows']])

const processors: ReadonlyMap<string, string> = new Map([
  ['x64', 'amd64'],
  ['ia32', '386'],
  ['ppc64', 'ppc64le'],
])

/** `linux/amd64` */
export function platformOf(system: string, processor: string): string {
  return `${systems.get(system) ?? system}/${processors.get(processor) ?? processor}`
}

/** `version` is the full version of the emulated release, '1.22.17'. */
export function buildInfo(version: string): VersionInfo {
  return versionInfo({
    version,
    gitCommit: sourceCommit(),
    gitTreeState: 'clean',
    // Node runs the sources directly, so there is no build date.
    buildDate: '1970-01-01T00:00:00Z',
    runtime: `node${process.versions.node}`,
    platform: platformOf(process.platform, process.arch),
  })
}
