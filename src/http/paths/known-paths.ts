/** Paths that are not served answer with those that are: `/` with all of them, others with what answers last. */
import type { PathHandler } from '#http/parts.ts'
import { send } from '#http/respond.ts'
import type { Catalog } from '#kinds/catalog.ts'
import { endpointsOf, type HealthChecks } from './health.ts'

const json = { contentType: 'application/json' }

export interface KnownPaths {
  /** Minor number of the emulated release. */
  readonly release: number
  readonly catalog: Catalog
  readonly checks: HealthChecks
  readonly others: readonly string[]
}

/** Stages that belong to the part of the server that answers last. */
const lastStages =
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

export function knownPaths({ release, catalog, checks, others }: KnownPaths): PathHandler {
  return {
    matches: (path) => !/^\/apis?(\/|$)/.test(path),
    handle(exchange) {
      const all = exchange.target.path === '/' || exchange.target.path === '/index.html'
      const paths = all
        ? [...groupPaths(catalog, () => true), ...healthPathsOf(checks, /./, release), ...others]
        : [
            ...groupPaths(catalog, (group) => group === 'apiextensions.k8s.io'),
            ...healthPathsOf(checks, lastStages, release),
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
