/**
 * The version of this package, read from its package.json: the same file in a checkout, in an
 * installed package and in the single executable.
 */
import { readFileSync } from 'node:fs'
import { embeddedFile } from '#base/embedded-file.ts'

export function packageVersion(): string {
  const manifest = new URL('../../package.json', import.meta.url)
  const text = embeddedFile('package.json') ?? readFileSync(manifest, 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** The output of `--version`. */
export const versionText = (release: string) =>
  `binnacle ${packageVersion()} (as Kubernetes ${release})`
