/**
 * The directory of static manifests, named in a plugin's configuration and re-read when it changes.
 */
import { statSync, watch } from 'node:fs'
import { isAbsolute } from 'node:path'
import { invalid, forbidden, type FieldError } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { PolicyType } from './policy-source.ts'
import { type ManifestParts, type Manifests, readManifests } from './static-manifests.ts'

const readsManifests = change('policies can be in manifests that the server reads from files', {
  since: 36,
})
const gate = 'ManifestBasedAdmissionControlConfig'
const path = FieldPath.of('staticManifestsDir')
const configurationKinds: Readonly<Record<PolicyType, string>> = {
  validating: 'ValidatingAdmissionPolicyConfiguration',
  mutating: 'MutatingAdmissionPolicyConfiguration',
}

/**
 * The configured directory. Undefined without one. Throws an Error if the configuration is invalid.
 */
export function manifestDirectory(
  configuration: Loose | undefined,
  type: PolicyType,
  { release, feature }: ManifestParts,
): string | undefined {
  if (configuration === undefined || !releaseOf(release).has(readsManifests)) return undefined
  const { apiVersion, kind, staticManifestsDir = '', ...others } = configuration
  const expected = configurationKinds[type]
  if (apiVersion !== 'apiserver.config.k8s.io/v1' || kind !== expected)
    throw new Error(
      `no kind "${kind}" is registered for version "${apiVersion}"; use ${expected} of apiserver.config.k8s.io/v1`,
    )
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new Error(`strict decoding error: unknown field "${unknown}"`)
  if (staticManifestsDir === '') return undefined
  const problem = problemOf(staticManifestsDir, feature)
  if (problem !== undefined) throw new Error(`${problem.field}: ${problem.message}`)
  return staticManifestsDir
}

function problemOf(directory: string, feature: ManifestParts['feature']): FieldError | undefined {
  if (!feature(gate))
    return forbidden(path, `staticManifestsDir requires the ${gate} feature gate to be enabled`)
  if (!isAbsolute(directory)) return invalid(path, directory, 'must be an absolute file path')
  try {
    if (!statSync(directory).isDirectory()) return invalid(path, directory, 'must be a directory')
  } catch {
    const why = `stat ${directory}: no such file or directory`
    return invalid(path, directory, `unable to read: ${why}`)
  }
  return undefined
}

export interface DirectoryOptions {
  readonly directory: string
  readonly type: PolicyType
  readonly parts: ManifestParts
  readonly report: (message: string) => void
  /** Called with the manifests at the start and after each change. */
  readonly loaded: (manifests: Manifests) => void
}

/**
 * The delay before a changed directory is read, because an editor writes a file in several steps.
 */
const settlesMs = 50
/** How often the directory is checked for changes that the operating system does not report. */
const readAgainMs = 60_000

/**
 * Throws if the manifests are invalid at start. If they become invalid later, the last valid ones
 * stay active.
 */
export function followManifests(options: DirectoryOptions): void {
  const { directory, type, parts, report, loaded } = options
  const first = readManifests(directory, type, parts)
  loaded(first)
  let { hash } = first
  const readAgain = () => {
    try {
      const manifests = readManifests(directory, type, parts)
      if (manifests.hash === hash) return
      hash = manifests.hash
      loaded(manifests)
      report(`reloaded manifests of policies from ${directory}`)
    } catch (error) {
      report(`manifests of policies stay as they were: ${(error as Error).message}`)
    }
  }
  let settling: NodeJS.Timeout | undefined
  watch(directory, { persistent: false }, () => {
    clearTimeout(settling)
    settling = setTimeout(readAgain, settlesMs).unref()
  }).on('error', () => {})
  setInterval(readAgain, readAgainMs).unref()
}
