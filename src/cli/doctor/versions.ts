/** Reports the versions of this program, of Node and of the emulated release. */
import type { Settings } from '#settings/flags.ts'
import { releases } from '#settings/flag-table.ts'
import { versionText } from '#cli/version.ts'
import type { Finding } from './finding.ts'

export function checkVersions({ emulatedVersion }: Settings): Finding[] {
  const newest = releases.at(-1)
  const text = `${versionText(emulatedVersion)}, Node ${process.versions.node}, newest release ${newest}`
  return [{ level: 'ok', area: 'versions', text }]
}
