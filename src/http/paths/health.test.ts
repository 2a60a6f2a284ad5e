/** Health endpoints, and the paths an unknown path lists, on both sides of changes. */
import { after } from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { type Served, startServed } from '#http/served.fixture.ts'
import type { Catalog } from '#kinds/catalog.ts'
import { healthPaths } from './health.ts'
import { knownPaths } from './known-paths.ts'

const passing = () => [{ name: 'ping', check: () => undefined }]
const checks = { healthz: passing, livez: passing, readyz: passing }
const catalog = { groupVersions: [] } as unknown as Catalog

const served = new Map<number, Promise<Served>>()
after(async () => {
  for (const one of served.values()) await (await one).stop()
})

function serve(release: number): Promise<Served> {
  const known =
    served.get(release) ??
    startServed({
      release,
      paths: [
        healthPaths(checks, release, () => {}),
        knownPaths({ release, catalog, checks, others: [] }),
      ],
    })
  served.set(release, known)
  return known
}

checkBoundaries<string, string>(
  async (release, path) => {
    const { status, text } = await (await serve(release)).ask('GET', path)
    return `${status} ${text.replace(/\s+/g, ' ')}`
  },
  [
    [
      'the last line of livez',
      [19, 20],
      '/livez?verbose',
      '200 [+]ping ok healthz check passed ',
      '200 [+]ping ok livez check passed ',
    ],
  ],
)

checkBoundaries<string, number>(
  async (release, path) => (await (await serve(release)).ask('GET', path)).status,
  [
    ['a check of livez', [15, 16], '/livez/ping', 404, 200],
    ['a check of readyz', [15, 16], '/readyz/ping', 404, 200],
  ],
)

checkBoundaries<string, boolean>(
  async (release, path) => {
    const { text } = await (await serve(release)).ask('GET', path)
    return text.includes('"paths": [')
  },
  [['an unknown path', [22, 23], '/unknown', true, false]],
)
