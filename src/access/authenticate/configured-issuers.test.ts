/** --authentication-config beside its flag, and changes of the file while the server runs. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import type { Caller } from '#access/https-call.ts'
import { releaseOf } from '#api/releases/change.ts'
import { until } from '#base/until.fixture.ts'
import { ConfiguredIssuers } from './configured-issuers.ts'

const folder = mkdtempSync(join(tmpdir(), 'issuers-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'authentication.yaml')

const write = (value: Loose) =>
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthenticationConfiguration',
      ...value,
    }),
  )
const issuers = (...names: string[]) => ({
  jwt: names.map((name) => ({
    issuer: { url: `https://${name}`, audiences: ['me'] },
    claimMappings: { username: { claim: 'sub', prefix: '' } },
  })),
})

/** By default no provider responds. */
function open(
  anonymousGiven: boolean,
  reports: string[] = [],
  loads: boolean[] = [],
  call: Caller = () => Promise.reject(new Error('away')),
): ConfiguredIssuers {
  return new ConfiguredIssuers({
    file,
    release: releaseOf(37),
    feature: () => true,
    anonymousGiven,
    ownIssuers: [],
    clock: { now: () => 0, elapsed: () => 0 } as never,
    caller: () => call,
    report: (message) => void reports.push(message),
    reloaded: (isLoaded) => void loads.push(isLoaded),
    readAgainMs: 5,
    findMsMax: 20,
  })
}

const starts: [what: string, value: Loose, given: boolean, problem: string | undefined][] = [
  ['the flag alone', {}, true, undefined],
  ['the file alone', { anonymous: { enabled: false } }, false, undefined],
  [
    'both',
    { anonymous: { enabled: true } },
    true,
    'anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
  ],
]
for (const [what, value, given, problem] of starts)
  test(`anonymous requests, by ${what}`, () => {
    write(value)
    if (problem !== undefined) assert.throws(() => open(given), { message: problem })
    else open(given).stop()
  })

const paths = (...all: string[]) => ({ conditions: all.map((path) => ({ path })) })
const frozen = 'anonymous: Forbidden: changed from initial configuration file'
const changes: [what: string, before: Loose, later: Loose, reported: string][] = [
  ['another switch', { anonymous: { enabled: false } }, { anonymous: { enabled: true } }, frozen],
  ['no switch any more', { anonymous: { enabled: false } }, {}, frozen],
  [
    'another order',
    { anonymous: { enabled: true, ...paths('/a', '/b') } },
    { anonymous: { enabled: true, ...paths('/b', '/a') } },
    frozen,
  ],
  ['a field that is unknown', {}, { x: 1 }, 'strict decoding error: unknown field "x"'],
  [
    'a provider that does not answer',
    {},
    issuers('one'),
    '[oidc: authenticator not initialized, context deadline exceeded]',
  ],
]
for (const [what, before, later, reported] of changes)
  test(`a change of the file: ${what}`, async () => {
    write(before)
    const reports: string[] = []
    const loads: boolean[] = []
    const configured = open(false, reports, loads)
    try {
      const { anonymous } = configured
      write(later)
      const isReported = () => reports.some((one) => one.startsWith('issuers stay as they were: '))
      await until('the refusal', isReported)
      assert.ok(
        reports.some((one) => one.endsWith(reported)),
        reports.join('\n'),
      )
      assert.deepEqual(configured.anonymous, anonymous)
      assert.deepEqual([...new Set(loads)], [false])
      assert.equal(configured.authenticateToken('a.b.c'), undefined)
    } finally {
      configured.stop()
    }
  })

test('a provider that was not found is tried again, without a change of the file', async () => {
  write({})
  const reports: string[] = []
  const configured = open(false, reports)
  try {
    write(issuers('two'))
    const refusals = () => reports.filter((one) => one.startsWith('issuers stay')).length
    await until('a second attempt', () => refusals() > 1)
  } finally {
    configured.stop()
  }
})

test('a provider that is found after the stop is not used', async () => {
  write({})
  const reports: string[] = []
  const loads: boolean[] = []
  const discovery = Promise.withResolvers<Awaited<ReturnType<Caller>>>()
  let isRequested = false
  const configured = open(false, reports, loads, () => {
    isRequested = true
    return discovery.promise
  })
  write(issuers('three'))
  await until('the discovery', () => isRequested)
  configured.stop()
  const document = { issuer: 'https://three', jwks_uri: 'https://three/keys' }
  discovery.resolve({ status: 200, headers: {}, body: JSON.stringify(document) } as never)
  await new Promise(setImmediate)
  const claims = Buffer.from(JSON.stringify({ iss: 'https://three' })).toString('base64url')
  assert.equal(configured.authenticateToken(`e30.${claims}.c2ln`), undefined)
  assert.deepEqual([reports, loads], [[], []])
})

test('a change that is loaded is counted', async () => {
  write(issuers('one'))
  const loads: boolean[] = []
  const configured = open(false, [], loads)
  try {
    write({})
    await until('the change', () => loads.length > 0)
    assert.deepEqual(loads, [true])
  } finally {
    configured.stop()
  }
})
