/**
 * --runtime-config: which group versions and resources are served. The broad keys count first, whatever their place:
 * api/all, then api/ga, api/beta and api/alpha, then single group versions, then single resources.
 */
import type { GroupVersionFact, ResourceFact } from './facts.ts'

export type Serves = (fact: ResourceFact) => boolean

const stageOf = (version: string) =>
  version.includes('alpha') ? 'api/alpha' : version.includes('beta') ? 'api/beta' : 'api/ga'
const broadKeys = new Set(['api/all', 'api/ga', 'api/beta', 'api/alpha'])

const keyOf = (group: string, version: string) => (group === '' ? version : `${group}/${version}`)

export function runtimeConfig(
  given: ReadonlyMap<string, string>,
  groupVersions: readonly GroupVersionFact[],
  resources: readonly ResourceFact[],
): Serves | { error: string } {
  const wanted = new Map<string, boolean>()
  const versions = new Set(groupVersions.map(({ group, version }) => keyOf(group, version)))
  const single = new Set(
    resources.map(({ group, version, plural }) => `${keyOf(group, version)}/${plural}`),
  )
  for (const [key, value] of given) {
    const name = key.replace(/^api\/v1(?=$|\/)/, 'v1').replace(/^apis\//, '')
    if (value !== 'true' && value !== 'false' && value !== '') {
      return { error: `--runtime-config: ${key}=${value} is neither true nor false` }
    }
    if (!broadKeys.has(name) && !versions.has(name) && !single.has(name)) {
      return {
        error: `--runtime-config: unknown api groups ${key}; accepted are api/all, api/ga, api/beta, api/alpha, a group version such as batch/v1beta1, and one of its resources such as batch/v1beta1/cronjobs`,
      }
    }
    wanted.set(name, value !== 'false')
  }
  return (fact) => {
    const version = keyOf(fact.group, fact.version)
    return (
      wanted.get(`${version}/${fact.plural}`) ??
      wanted.get(version) ??
      wanted.get(stageOf(fact.version)) ??
      wanted.get('api/all') ??
      !fact.off
    )
  }
}
