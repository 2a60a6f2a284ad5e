/**
 * --runtime-config: the served group versions and resources. Keys are applied from broad to
 * specific, regardless of their order: api/all, then api/ga, api/beta and api/alpha, then group
 * versions, then resources.
 */
import type { GroupVersion } from './catalog.ts'
import type { ResourceFact } from './facts.ts'

export type Serves = (fact: ResourceFact) => boolean

const stageOf = (version: string) =>
  version.includes('alpha') ? 'api/alpha' : version.includes('beta') ? 'api/beta' : 'api/ga'
const broadKeys = new Set(['api/all', 'api/ga', 'api/beta', 'api/alpha'])

const keyOf = (group: string, version: string) => (group === '' ? version : `${group}/${version}`)

/** `registered` are all group versions that the release can decode, served or not. */
export function runtimeConfig(
  given: ReadonlyMap<string, string>,
  registered: readonly GroupVersion[],
  resources: readonly ResourceFact[],
): Serves | { error: string } {
  const wanted = new Map<string, boolean>()
  const groups = new Set(registered.map(({ group }) => group))
  const versions = new Set(registered.map(({ group, version }) => keyOf(group, version)))
  const single = new Set(
    resources.map(({ group, version, plural }) => `${keyOf(group, version)}/${plural}`),
  )
  for (const [key, value] of given) {
    const name = key.replace(/^api\/v1(?=$|\/)/, 'v1').replace(/^apis\//, '')
    if (value !== 'true' && value !== 'false' && value !== '') {
      return { error: `--runtime-config: ${key}=${value} is neither true nor false` }
    }
    if (!broadKeys.has(name) && !versions.has(name) && !single.has(name)) {
      const [group = '', version] = name.split('/')
      if (version !== undefined && groups.has(group) && !versions.has(`${group}/${version}`)) {
        return {
          error: `--runtime-config: group version ${group}/${version} that has not been registered`,
        }
      }
      return {
        error: `--runtime-config: unknown api groups ${key}; accepted are api/all, api/ga, api/beta, api/alpha, a group version such as batch/v1beta1, and one of its resources such as batch/v1beta1/cronjobs`,
      }
    }
    wanted.set(name, value !== 'false')
  }
  if (wanted.size === 1 && wanted.get('api/all') === false)
    return { error: '--runtime-config: invalid key with only api/all=false' }
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
