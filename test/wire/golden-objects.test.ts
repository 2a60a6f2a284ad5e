/**
 * The golden objects that k8s.io/api publishes, one of every kind with every field set, as JSON,
 * YAML and protobuf. Each form is read to the same object and written back to the same bytes. Runs
 * where Go's module cache has the module.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Json, Loose } from '#api/object-meta.ts'
import { parseJson } from '#codec/json.ts'
import { decodeMessage, encodeObject, openEnvelope } from '#codec/protobuf.ts'
import { encodeYaml, parseYaml } from '#codec/yaml.ts'
import { loadFacts } from '#kinds/facts.ts'
import { conform } from '#schema/conform.ts'
import type { Struct } from '#schema/type.ts'
import { moduleFolder } from '../module-cache.fixture.ts'

const facts = loadFacts((name) =>
  readFileSync(new URL(`../../facts/${name}`, import.meta.url), 'utf8'),
)

/** Left in the folder by the time between releases: kinds that no release has as they are there. */
const gone = new Set([
  'batch.v1.JobTemplate',
  'batch.v2alpha1.CronJob',
  'batch.v2alpha1.JobTemplate',
  'core.v1.EphemeralContainers',
])

/**
 * Releases whose module is checked: the oldest and the newest that the tables and the folder of the
 * module agree on.
 */
const checkedReleases = [22, 37]

/**
 * The type in the newest of these releases that has it: some kinds outlived their release in the
 * folder unchanged.
 */
function typeOf(group: string, version: string, kind: string, releases: readonly number[]): Struct {
  const names = [`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`]
  const own = facts.openApiNameOf(group, version, kind)
  if (own !== undefined) names.unshift(own)
  for (const release of releases.toReversed()) {
    for (const name of names) {
      try {
        return facts.typeOf(name, release)
      } catch {
        // Not in this release, or not in this package.
      }
    }
  }
  return assert.fail(`no release has ${group}/${version} ${kind}`)
}

function check(folder: string, base: string, releases: readonly number[], withYaml: boolean): void {
  const read = (ending: string) => readFileSync(join(folder, `${base}.${ending}`))
  const bytes = read('pb')
  const json = parseJson(read('json').toString())
  const { apiVersion, kind, raw } = openEnvelope(bytes)
  const [version, group = ''] = apiVersion.split('/').reverse()
  const named = kind === '' ? (base.split('.').at(-1) as string) : kind
  const type = typeOf(group, version, named, releases)
  const header = kind === '' ? {} : { kind, apiVersion }
  const fromJson = conform(type, json)
  assert.deepEqual(fromJson.unknown, [])
  assert.equal(JSON.stringify(fromJson.value), JSON.stringify(json), 'JSON is canonical')
  const fromProtobuf = conform(type, { ...header, ...decodeMessage(type, raw) } as Json).value
  assert.equal(JSON.stringify(fromProtobuf), JSON.stringify(json), 'protobuf says the same')
  assert.ok(encodeObject(type, fromJson.value as Loose).equals(bytes), 'protobuf is written alike')
  if (!withYaml) return
  const fromYaml = conform(type, parseYaml(read('yaml').toString())).value
  assert.equal(JSON.stringify(fromYaml), JSON.stringify(json), 'YAML says the same')
  const written = encodeYaml(fromJson.value as Loose)
  assert.equal(written.toString(), read('yaml').toString(), 'YAML is written alike')
}

/**
 * What an older release wrote, read and written by the newest: some fields were not known then, and
 * some have gone.
 */
function checkTurn(folder: string, base: string, releases: readonly number[]): void {
  const read = (name: string) => readFileSync(join(folder, name))
  const { apiVersion, kind, raw } = openEnvelope(read(`${base}.pb`))
  const [version, group = ''] = apiVersion.split('/').reverse()
  const type = typeOf(group, version, kind, releases)
  const { value } = conform(type, { kind, apiVersion, ...decodeMessage(type, raw) } as Json)
  const after = read(`${base}.after_roundtrip.pb`)
  assert.equal(encodeObject(type, value as Loose).toString('hex'), after.toString('hex'))
}

const basesOf = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.pb') && !name.includes('.after_roundtrip'))
    .map((name) => name.slice(0, -'.pb'.length))

const turned = '.after_roundtrip.pb'
const turnedBasesOf = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(turned))
    .map((name) => name.slice(0, -turned.length))
    .filter((base) => !gone.has(base))

/**
 * The folder HEAD has the release's own objects, beside it are those of the two releases before.
 */
function checkModule(testdata: string, newest: number): void {
  const known = facts.releases.filter((one) => one <= newest)
  for (const base of basesOf(join(testdata, 'HEAD')).filter((one) => !gone.has(one))) {
    test(`${base} of 1.${newest}`, () => check(join(testdata, 'HEAD'), base, known, true))
  }
  for (const release of [newest - 2, newest - 1]) {
    const until = facts.releases.filter((one) => one <= release)
    const folder = join(testdata, `v1.${release}.0`)
    for (const base of basesOf(folder).filter((one) => !gone.has(one) || release === 20)) {
      test(`${base} of 1.${release}`, () => check(folder, base, until, false))
    }
    for (const base of turnedBasesOf(folder)) {
      test(`${base} of 1.${release}, by 1.${newest}`, () => checkTurn(folder, base, known))
    }
  }
}

for (const release of checkedReleases) {
  const module = `k8s.io/api@v${facts.versionOf(release).replace(/^1/, '0')}`
  const testdata = moduleFolder(module, 'testdata')
  if (testdata !== undefined) checkModule(testdata, release)
  else test('golden objects', { skip: `needs ${module} in the Go module cache` }, () => {})
}
