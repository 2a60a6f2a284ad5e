/**
 * Writes docs/features.md from the facts and the expected failures. A test compares the part that
 * is made of facts.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { loadFacts } from '#kinds/facts.ts'
import { kindRowOf } from '#kinds/registry.ts'
import { releases } from '#settings/flag-table.ts'
import { releaseNumber } from '#settings/flags.ts'
import { readExpectedFailures } from '../../conformance/expected-failures.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/**
 * What kube-apiserver has and this server refuses; each is refused in words, at the start or in the
 * response.
 */
const absent = [
  'Encryption of the store by a key service (the provider `kms`); `aescbc`, `aesgcm`, `secretbox` and `identity` are there.',
  'Controllers of Nodes and volumes. [controllers.md](controllers.md) lists those that run.',
]

/**
 * Feature gates of 1.37 that are off by default and have no effect on fields, validation or
 * responses here.
 */
const gatesWithoutEffect: readonly (readonly [gate: string, effect: string])[] = [
  ['APIServerWebhookAuthenticationToken', 'tokens bound to a webhook configuration are refused.'],
  [
    'DRANodeAllocatableResources',
    'node resources of allocated devices are not compared with the requests of the pod.',
  ],
  ['DRAResourcePoolStatus', 'no controller answers ResourcePoolStatusRequests.'],
  ['EvictionRequestAPI', 'no controller creates Evictions for EvictionRequests.'],
  ['KMSv1', 'there is no provider `kms`.'],
  ['PodLogsQuerySplitStreams', 'the parameter `stream` of pod logs.'],
  ['ShardedListAndWatch', 'the parameter `shardSelector` of lists and watches.'],
  ['StorageVersionAPI', 'StorageVersions are stored, but the server writes none.'],
]

/** Validation that releases have for an API that is off by default, and that is missing here. */
const missingRules = [
  'podgroups and workloads in scheduling.k8s.io/v1alpha2 (1.36), resourcepoolstatusrequests in 1.36: rules that tags on the fields declare. Those of 1.37 are there.',
  'resourceclaims, resourceclaimtemplates and resourceslices in resource.k8s.io/v1alpha1 and v1alpha2 (1.26–1.30): the validation is that of v1alpha3.',
]

const numbers = releases.map(releaseNumber)

/** `1.15–1.24, 1.27` of minor numbers in order. */
function spans(minors: readonly number[]): string {
  const parts: string[] = []
  for (let i = 0; i < minors.length; i++) {
    const first = minors[i]!
    while (minors[i + 1] === minors[i]! + 1) i++
    const last = minors[i]!
    parts.push(first === last ? `1.${first}` : `1.${first}–1.${last}`)
  }
  return parts.join(', ')
}

/**
 * A row for each resource of each group version: the releases that serve it, and those where it is
 * off at first.
 */
export function resourceRows(): string[] {
  const facts = loadFacts((name) => read(`facts/${name}`))
  const served = new Map<string, number[]>()
  const off = new Map<string, number[]>()
  for (const minor of numbers) {
    const isOff = new Set(
      facts
        .groupVersionsOf(minor)
        .filter((row) => row.off)
        .map(({ group, version }) => `${group}/${version}`),
    )
    for (const { group, version, plural } of facts.resourcesOf(minor)) {
      const name = `${plural} | ${group === '' ? version : `${group}/${version}`}`
      const to = isOff.has(`${group}/${version}`) ? off : served
      to.set(name, [...(to.get(name) ?? []), minor])
    }
  }
  return [...new Set([...served.keys(), ...off.keys()])]
    .sort()
    .map((name) => `| ${name} | ${spans(served.get(name) ?? [])} | ${spans(off.get(name) ?? [])} |`)
}

/** Resources without rules of their own: only facts and the general strategy apply to them. */
function withoutRules(): string[] {
  const facts = loadFacts((name) => read(`facts/${name}`))
  const found = new Map<string, number[]>()
  for (const minor of numbers) {
    for (const { group, version, plural, storage } of facts.resourcesOf(minor)) {
      if (storage === undefined || kindRowOf(group, plural) !== undefined) continue
      const name = `${plural} in ${group}/${version}`
      found.set(name, [...(found.get(name) ?? []), minor])
    }
  }
  return [...found].sort().map(([name, minors]) => `${name} (${spans(minors)})`)
}

function knownDifferences(): string[] {
  const { reasons, sometimes } = readExpectedFailures(read('conformance/expected-failures.txt'))
  const byReason = new Map<string, Set<string>>()
  for (const [where, why] of reasons) {
    const release = where.split(' ')[0]!
    const text = sometimes.has(where) ? `${why} (sometimes)` : why
    byReason.set(text, (byReason.get(text) ?? new Set()).add(release))
  }
  return [...byReason].map(([why, where]) => `- ${[...where].join(', ')}: ${why}`)
}

export function featuresPage(): string {
  return [
    '# Supported features, release by release',
    '',
    'Every API of kube-apiserver is served in the releases that have it, with its defaults, validation, admission and tables.',
    'Exceptions are listed below for [APIs that are off by default](#apis-that-are-off-by-default).',
    '[releases.md](releases.md) says what changes from one release to the next.',
    '',
    'This page is made from the facts about each release: `node tools/run.mjs file tools/docs/features-page.ts`.',
    '',
    '## Not supported',
    '',
    ...absent.map((line) => `- ${line}`),
    '',
    '## APIs that are off by default',
    '',
    'These have the types and defaults of their release, and requests keep spec and status apart. They lack validation and their own table columns:',
    '',
    ...withoutRules().map((line) => `- ${line}`),
    '',
    'These lack a part of their validation:',
    '',
    ...missingRules.map((line) => `- ${line}`),
    '',
    'These feature gates of 1.37 are off by default, and turning them on changes nothing or not everything here:',
    '',
    ...gatesWithoutEffect.map(([gate, effect]) => `- ${gate}: ${effect}`),
    '',
    '## Known differences',
    '',
    'Responses are compared with recordings of real servers (1.15, 1.21, 1.22, 1.37 in the repository). Of those that a test holds complete, these differ:',
    '',
    ...knownDifferences(),
    '',
    'Where this server differs on purpose, a page of [decisions](decisions/README.md) says why.',
    '',
    '## Resources',
    '',
    '| resource | version | served in | only with --runtime-config in |',
    '| --- | --- | --- | --- |',
    ...resourceRows(),
    '',
  ].join('\n')
}

if (import.meta.main) writeFileSync(join(root, 'docs/features.md'), featuresPage())
