/** The document /version: the emulated release, and how the server was built. */

import { change, releaseOf } from '#api/releases/change.ts'

export interface BuildInfo {
  /** The full version of the emulated release, '1.22.17'. */
  readonly version: string
  readonly gitCommit: string
  readonly gitTreeState: string
  /** RFC 3339. */
  readonly buildDate: string
  /** The runtime, such as 'node26.0.0', reported as goVersion. */
  readonly runtime: string
  readonly platform: string
}

const saysEmulation = change('/version names the emulated and the oldest compatible release', {
  since: 33,
})

export interface VersionInfo {
  readonly major: string
  readonly minor: string
  readonly emulationMajor?: string
  readonly emulationMinor?: string
  readonly minCompatibilityMajor?: string
  readonly minCompatibilityMinor?: string
  readonly gitVersion: string
  readonly gitCommit: string
  readonly gitTreeState: string
  readonly buildDate: string
  readonly goVersion: string
  readonly compiler: string
  readonly platform: string
}

export function versionInfo(build: BuildInfo): VersionInfo {
  const [major = '', minor = ''] = build.version.split('.')
  return {
    major,
    minor,
    ...(releaseOf(Number(minor)).has(saysEmulation) && {
      emulationMajor: major,
      emulationMinor: minor,
      minCompatibilityMajor: major,
      // The previous release must be able to read stored objects.
      minCompatibilityMinor: String(Number(minor) - 1),
    }),
    gitVersion: `v${build.version}`,
    gitCommit: build.gitCommit,
    gitTreeState: build.gitTreeState,
    buildDate: build.buildDate,
    goVersion: build.runtime,
    compiler: 'binnacle',
    platform: build.platform,
  }
}
