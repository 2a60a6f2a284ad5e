/** A token is signed for the requested user and lifetime, and nothing is stored. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { refusalOf, startVerbs } from '#verbs/fixture.suite.ts'
import { requestToken } from './token.ts'

const verbs = await startVerbs()
after(() => verbs.stop())
const minted: Loose[] = []
const access = {
  mint: { bound: (claims: Loose, now: number) => minted.push({ ...claims, now }) && 'signed' },
  tokenRequests: { apiAudiences: ['api'], expirationSecondsMax: 86_400, extendExpiration: true },
}
const now = Date.parse('2020-01-01T00:00:00.700Z')
const server = { ...verbs.server, access, clock: { now: () => now } } as never

await verbs.create('serviceaccounts', { metadata: { name: 'robot' } })
await verbs.create('secrets', { metadata: { name: 'secret' } })
const containers = [{ name: 'c', image: 'i' }]
const pod = await verbs.create('pods', {
  metadata: { name: 'pod' },
  spec: { serviceAccountName: 'robot', containers },
})
await verbs.create('pods', {
  metadata: { name: 'other' },
  spec: { serviceAccountName: 'default', containers },
})
await verbs.settled()

async function ask(spec: object | undefined, name = 'robot', by = server): Promise<Loose> {
  const target = verbs.target('serviceaccounts', name, 'token')
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
  const answer = await requestToken(by, verbs.request(target, body))
  assert.ok(answer.is === 'value' && answer.status === 201)
  return answer.value as Loose
}

const podRef = { apiVersion: 'v1', kind: 'Pod', name: 'pod' }
const given: [name: string, spec: Loose, audiences: string[], seconds: number, signed: number][] = [
  ['defaults: an hour, for the API server', {}, ['api'], 3600, 3600],
  [
    'an audience and a time',
    { audiences: ['a', 'b'], expirationSeconds: 601 },
    ['a', 'b'],
    601,
    601,
  ],
  ['the shortest time', { expirationSeconds: 600 }, ['api'], 600, 600],
  ['more than the server gives', { expirationSeconds: 86_401 }, ['api'], 86_400, 86_400],
  ['bound to a pod', { boundObjectRef: podRef }, ['api'], 3600, 3600],
  [
    'bound to a pod, as kubelets request it: valid for a year',
    { boundObjectRef: podRef, expirationSeconds: 3607 },
    ['api'],
    3607,
    31_536_000,
  ],
  ['the same time without a pod', { expirationSeconds: 3607 }, ['api'], 3607, 3607],
]
for (const [name, spec, audiences, seconds, signed] of given) {
  test(name, async () => {
    const answered = await ask(spec)
    const claims = minted.at(-1) as Loose
    assert.deepEqual(answered.spec.audiences, audiences)
    assert.equal(answered.spec.expirationSeconds, seconds)
    assert.equal(answered.status.token, 'signed')
    // Times in a token are whole seconds.
    const expires = Date.parse('2020-01-01T00:00:00Z') + seconds * 1000
    assert.equal(Date.parse(answered.status.expirationTimestamp), expires)
    assert.deepEqual([claims.audiences, claims.expirationSeconds], [audiences, signed])
    assert.equal(claims.account.metadata.name, 'robot')
    assert.equal(claims.pod?.metadata.uid, spec.boundObjectRef && pod.metadata.uid)
    assert.equal(claims.now, now)
  })
}

test('a token may be bound to a secret', async () => {
  await ask({ boundObjectRef: { kind: 'Secret', name: 'secret' } })
  assert.equal(minted.at(-1)?.secret.metadata.name, 'secret')
})

const bind = (reference: object) => ({ boundObjectRef: reference })
const refused: [name: string, spec: object, refusal: string, account?: string][] = [
  ['too short', { expirationSeconds: 599 }, '422 Invalid'],
  ['too long', { expirationSeconds: 2 ** 32 + 1 }, '422 Invalid'],
  ['an account that is not there', {}, '404 NotFound', 'nobody'],
  ['a pod that is not there', bind({ ...podRef, name: 'gone' }), '404 NotFound'],
  ['a pod that is another one now', bind({ ...podRef, uid: 'old' }), '409 Conflict'],
  ['a pod of another account', bind({ ...podRef, name: 'other' }), '400 BadRequest'],
  ['an object of another kind', bind({ kind: 'ConfigMap', name: 'pod' }), '400 BadRequest'],
  ['a pod without a name', bind({ ...podRef, name: '' }), '400 BadRequest'],
  ['a name that cannot be in a path', bind({ ...podRef, name: 'a/b' }), '400 BadRequest'],
  ['no version, and no pod', bind({ ...podRef, apiVersion: 'a/b/c', name: 'x' }), '404 NotFound'],
  ['a pod of another group', bind({ ...podRef, apiVersion: 'x/v1' }), '400 BadRequest'],
]
for (const [name, spec, refusal, account] of refused) {
  test(`rejected, and nothing is signed: ${name}`, async () => {
    const before = minted.length
    assert.equal(await refusalOf(ask(spec, account)), refusal)
    assert.equal(minted.length, before)
  })
}

test('without a key no token is signed', async () => {
  const keyless = { ...(server as Loose), access: { ...access, mint: undefined } } as never
  assert.equal(await refusalOf(ask({}, 'robot', keyless)), '503 ServiceUnavailable')
})

test('the response contains the user, and the account is unchanged', async () => {
  const before = await verbs.get('serviceaccounts', 'robot')
  const { metadata, kind } = await ask({ audiences: ['a'] })
  assert.equal(kind, 'TokenRequest')
  assert.equal(metadata.creationTimestamp, null)
  const [entry] = metadata.managedFields
  assert.deepEqual([entry.manager, entry.subresource], ['test', 'token'])
  assert.ok(entry.fieldsV1['f:spec']['f:audiences'])
  const ofNone = await ask({ audiences: [] })
  assert.ok(ofNone.metadata.managedFields[0].fieldsV1['f:spec']['f:audiences'])
  assert.deepEqual(await verbs.get('serviceaccounts', 'robot'), before)
})

test('admission runs before the token is signed', async () => {
  const seen: Loose[] = []
  const refuse = {
    mutate: async (attributes: Loose) => seen.push(structuredClone(attributes.object.spec)),
    validate: async () => Promise.reject(new Error('no')),
  }
  const before = minted.length
  await assert.rejects(ask({}, 'robot', { ...(server as Loose), admission: refuse } as never), /no/)
  assert.equal(seen[0].expirationSeconds, 3600)
  assert.equal(minted.length, before)
})

for (const [release, owned] of [
  [17, undefined],
  [18, { 'f:spec': { 'f:expirationSeconds': {} } }],
] as const)
  test(`1.${release}: a token request ${owned ? 'owns' : 'does not own'} its fields`, async () => {
    const { metadata } = await ask({}, 'robot', { ...(server as object), release } as never)
    assert.deepEqual(metadata.managedFields?.[0].fieldsV1, owned)
  })
