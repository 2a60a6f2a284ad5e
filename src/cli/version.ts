/** The version of this package, read from its package.json: the same file in a checkout and in an installed package. */
import { readFileSync } from 'node:fs'

function packageVersion(): string {
  const manifest = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

/** What `--version` prints. */
export const versionText = (release: string) =>
  `binnacle ${packageVersion()} (as Kubernetes ${release})`
