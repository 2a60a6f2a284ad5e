/**
 * Discovery and OpenAPI beside the files that k8s.io/kubernetes publishes with a release. Those are
 * made by a kube-apiserver that serves every version and has every feature gate on. Descriptions
 * are not compared. Runs where Go's module cache has the module.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { loadFacts } from '#kinds/facts.ts'
import { readFactsFile } from '#server/facts-reader.ts'
import { moduleFolder } from './module-cache.fixture.ts'
import { type RunningServer, startServer } from './running-server.ts'

type Body = { [key: string]: Json }
/** The first release that kube-apiserver publishes OpenAPI v3 of by default. */
const oldest = 24

const ownAddress = 'each server reports its own address'
const noLogs = 'this server does not serve the log files of its machine'
/** Every difference, by its place. A listed place without a difference fails the test too. */
const differences: readonly (readonly [place: string, since: number, reason: string])[] = [
  // The first release that publishes its discovery documents is 1.28.
  ['/api serverAddressByClientCIDRs 0 serverAddress', 28, ownAddress],
  ['/openapi/v2 paths /logs/', oldest, noLogs],
  ['/openapi/v2 paths /logs/{logpath}', oldest, noLogs],
  ['/openapi/v3/logs', oldest, noLogs],
]

const isObject = (value: Json | undefined): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Without descriptions. kube-apiserver wraps a reference with a description in `allOf`; without the
 * description, the reference alone is the same schema.
 */
function plain(value: Json, parameters: Body): Json {
  if (Array.isArray(value)) return value.map((one) => plain(one, parameters))
  if (!isObject(value)) return value
  const { $ref } = value
  // The published file shares parameters by names that hold a digest of their descriptions.
  if (typeof $ref === 'string' && $ref.startsWith('#/parameters/'))
    return plain(parameters[$ref.slice('#/parameters/'.length)], parameters)
  const members = Object.entries(value).filter(
    ([name, one]) => name !== 'description' || typeof one !== 'string',
  )
  const { allOf } = value
  if (members.length === 1 && Array.isArray(allOf) && allOf.length === 1)
    return plain(allOf[0], parameters)
  return Object.fromEntries(members.map(([name, one]) => [name, plain(one, parameters)]))
}

function* placesOf(want: Json | undefined, got: Json | undefined, place: string): Iterable<string> {
  if (want === got) return
  const comparable =
    (isObject(want) && isObject(got)) || (Array.isArray(want) && Array.isArray(got))
  if (!comparable) return yield place
  const [wanted, found] = [want as Body, got as Body]
  for (const name of new Set([...Object.keys(wanted), ...Object.keys(found)]))
    yield* placesOf(wanted[name], found[name], `${place} ${name}`)
}

const readJson = (folder: string, file: string): Body =>
  JSON.parse(readFileSync(join(folder, file), 'utf8'))

/** The name of a document, from that of its file: `apis__apps__v1.json`. */
const nameOf = (file: string, ending: string) => file.slice(0, -ending.length).replaceAll('__', '/')

class Comparison {
  readonly places: string[] = []
  readonly #server: RunningServer

  constructor(server: RunningServer) {
    this.#server = server
  }

  async compare(path: string, want: Body, accept = 'application/json'): Promise<void> {
    const { status, text } = await this.#server.ask('GET', path, undefined, { accept })
    if (status !== 200) return void this.places.push(path)
    const { parameters = {}, ...shown } = want
    // The files do not name their release.
    const wanted = plain(withoutVersion(shown), parameters as Body)
    const got = plain(withoutVersion(JSON.parse(text)), {})
    this.places.push(...placesOf(wanted, got, path))
  }

  async discovery(folder: string): Promise<void> {
    if (!existsSync(folder)) return
    for (const file of readdirSync(folder)) {
      const version = /^aggregated_(.*)\.json$/.exec(file)?.[1]
      const aggregated = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
      const want = readJson(folder, file)
      if (version !== undefined) await this.compare('/apis', want, aggregated)
      else await this.compare(`/${nameOf(file, '.json')}`, want)
    }
  }

  async openApi(folder: string): Promise<void> {
    await this.compare('/openapi/v2', readJson(folder, 'swagger.json'))
    const files = readdirSync(join(folder, 'v3'))
    for (const file of files) {
      const want = readJson(join(folder, 'v3'), file)
      await this.compare(`/openapi/v3/${nameOf(file, '_openapi.json')}`, want)
    }
    const { text } = await this.#server.ask('GET', '/openapi/v3')
    const published = new Set(files.map((file) => nameOf(file, '_openapi.json')))
    for (const name of Object.keys(JSON.parse(text).paths))
      if (!published.has(name)) this.places.push(`/openapi/v3/${name}`)
  }
}

const withoutVersion = (document: Body): Body =>
  isObject(document.info) ? { ...document, info: { ...document.info, version: '' } } : document

const facts = loadFacts(readFactsFile)
const flags = [
  '--controllers=-*',
  '--disable-admission-plugins=ServiceAccount',
  '--runtime-config=api/all=true',
  '--feature-gates=AllAlpha=true,AllBeta=true,OpenAPIEnums=false',
]

for (const release of facts.releases.filter((one) => one >= oldest)) {
  const module = `k8s.io/kubernetes@v${facts.versionOf(release)}`
  const folder = moduleFolder(module, 'api')
  const skip = folder === undefined && `needs ${module} in the Go module cache`
  test(`discovery and OpenAPI of 1.${release} are as published`, { skip }, async (context) => {
    const server = await startServer([`--emulated-version=1.${release}`, ...flags])
    context.after(() => server.stop())
    const comparison = new Comparison(server)
    await comparison.discovery(join(folder as string, 'discovery'))
    await comparison.openApi(join(folder as string, 'openapi-spec'))
    const listed = differences.filter(([, since]) => release >= since)
    assert.deepEqual(comparison.places.sort(), listed.map(([place]) => place).sort())
  })
}
