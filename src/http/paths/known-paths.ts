/**
 * The list of served paths, as the response to `/`. Until 1.22, unknown paths also get a list: the
 * paths of the apiextensions-apiserver, the last server in kube-apiserver's delegation chain.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { PathHandler } from '#http/parts.ts'
import { send } from '#http/response/respond.ts'
import type { Catalog } from '#kinds/catalog.ts'
import { endpointsOf, type HealthChecks } from './health.ts'

const json = { contentType: 'application/json' }

const unknownPathsListPaths = change('a path that is not served answers with a list of paths', {
  until: 22,
})

export interface KnownPaths {
  /** Minor number of the emulated release. */
  readonly release: number
  readonly catalog: Catalog
  readonly checks: HealthChecks
  readonly others: readonly string[]
}

/** The names of the health checks of the apiextensions-apiserver. */
const extensionsChecks =
  /^(ping|log|etcd|informer-sync|shutdown|poststarthook\/(crd-informer-synced|generic-apiserver-start-informers|max-in-flight-filter|priority-and-fairness-(config-consumer|filter)|start-apiextensions-(controllers|informers)))$/

function healthPathsOf(checks: HealthChecks, wanted: RegExp, release: number): string[] {
  return endpointsOf(release).flatMap((endpoint) => [
    `/${endpoint}`,
    ...checks[endpoint]()
      .filter(({ name }) => wanted.test(name))
      .map(({ name }) => `/${endpoint}/${name}`),
  ])
}

function groupPaths(catalog: Catalog, wanted: (group: string) => boolean): string[] {
  const paths = new Set<string>()
  for (const { group, version } of catalog.groupVersions) {
    if (!wanted(group)) continue
    const prefix = group === '' ? '/api' : `/apis/${group}`
    paths.add(prefix).add(`${prefix}/${version}`)
  }
  return [...paths]
}

/** All served paths. */
export const servedPaths = ({ release, catalog, checks, others }: KnownPaths): string[] => [
  ...groupPaths(catalog, () => true),
  ...healthPathsOf(checks, /./, release),
  ...others,
]

const isIndex = (path: string): boolean => path === '/' || path === '/index.html'

export function knownPaths(known: KnownPaths): PathHandler {
  const { release, catalog, checks } = known
  const answersAll = releaseOf(release).has(unknownPathsListPaths)
  return {
    matches: (path) => (answersAll ? !/^\/apis?(\/|$)/.test(path) : isIndex(path)),
    handle(exchange) {
      const all = isIndex(exchange.target.path)
      const paths = all
        ? servedPaths(known)
        : [
            ...groupPaths(catalog, (group) => group === 'apiextensions.k8s.io'),
            ...healthPathsOf(checks, extensionsChecks, release),
            '/metrics',
            '/openapi/v2',
            '/version',
          ]
      paths.push('/apis', '/apis/')
      paths.sort()
      return send(exchange, all ? 200 : 404, json, Buffer.from(JSON.stringify({ paths }, null, 2)))
    },
  }
}
