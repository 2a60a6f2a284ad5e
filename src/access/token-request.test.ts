/** Token requests of releases that check metadata and bind tokens to nodes. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { ApiError } from '#api/status-error.ts'
import { readSigningKey } from './authenticate/key-files.ts'
import { TokenMint } from './authenticate/service-account-token.ts'
import { MemoryReader } from './memory-reader.suite.ts'
import { answerTokenRequest, checkTokenRequest, type TokenRules } from './token-request.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const mint = new TokenMint('https://issuer', readSigningKey(pem, 'k'))
const reader = new MemoryReader()
reader.put('', 'serviceaccounts', { metadata: { namespace: 'n', name: 'bot', uid: 'b' } })
reader.put('', 'nodes', { metadata: { name: 'node', uid: 'nu' } })
reader.put('', 'pods', {
  metadata: { namespace: 'n', name: 'p', uid: 'pu' },
  spec: { serviceAccountName: 'bot', nodeName: 'node' },
})
reader.put('', 'pods', {
  metadata: { namespace: 'n', name: 'lost', uid: 'lu' },
  spec: { serviceAccountName: 'bot', nodeName: 'gone' },
})

const rulesOf = (minor: number, gatesOff: readonly string[] = []): TokenRules => ({
  release: releaseOf(minor),
  feature: (gate) => !gatesOff.includes(gate),
  newUid: () => 'id',
  warnings: [],
  auditAnnotations: new Map(),
})

async function answer(spec: Loose, metadata: Loose = {}, rules = rulesOf(37), max = 0) {
  const request = { metadata, spec: { expirationSeconds: 3600, ...spec } }
  const settings = { apiAudiences: ['api'], expirationSecondsMax: max, extendExpiration: true }
  try {
    await checkTokenRequest(request, 'n', 'bot', reader, rules)
    const made = await answerTokenRequest(request, 'n', 'bot', reader, mint, settings, 0, rules)
    const claims = JSON.parse(Buffer.from(made.status.token.split('.')[1], 'base64url').toString())
    return { metadata: { ...request.metadata, ...made.metadata }, claims, spec: made.spec }
  } catch (error) {
    return `${(error as ApiError).code} ${(error as ApiError).message}`
  }
}
const bound = (kind: string, name: string, uid = '') => ({
  boundObjectRef: { apiVersion: 'v1', kind, name, uid },
})

const answered = async (release: number, spec: Loose): Promise<Loose | string> => {
  const made = await answer(spec, {}, rulesOf(release))
  if (typeof made === 'string') return made
  return { uid: made.metadata.uid, node: made.claims['kubernetes.io'].node?.name }
}
checkBoundaries<Loose, Loose | string>(answered, [
  [
    'the uid of the account',
    [33, 34],
    {},
    { uid: undefined, node: undefined },
    { uid: 'b', node: undefined },
  ],
  [
    'a token bound to a node',
    [28, 29],
    bound('Node', 'node'),
    '400 cannot bind token to object of type /v1, Kind=Node',
    { uid: undefined, node: 'node' },
  ],
])

test('a token has an ID, and the response has the name of the account', async () => {
  const rules = rulesOf(37)
  const made = await answer({}, {}, rules)
  assert.ok(typeof made !== 'string')
  assert.equal(made.claims.jti, 'id')
  const creationTimestamp = '1970-01-01T00:00:00Z'
  assert.deepEqual(made.metadata, { name: 'bot', namespace: 'n', uid: 'b', creationTimestamp })
  const annotation = 'authentication.kubernetes.io/issued-credential-id'
  assert.equal(rules.auditAnnotations.get(annotation), 'JTI=id')
})

test('1.22 returns no metadata and gives tokens no ID', async () => {
  const made = await answer({}, {}, rulesOf(22, ['ServiceAccountTokenJTI']))
  assert.ok(typeof made !== 'string')
  assert.deepEqual([made.claims.jti, made.metadata], [undefined, {}])
})

test('tokens of pods contain the node, only by name if it does not exist', async () => {
  const nodeOf = async (name: string, gatesOff: string[] = []) => {
    const made = await answer(bound('Pod', name), {}, rulesOf(37, gatesOff))
    assert.ok(typeof made !== 'string')
    return made.claims['kubernetes.io'].node
  }
  assert.deepEqual(await nodeOf('p'), { name: 'node', uid: 'nu' })
  assert.deepEqual(await nodeOf('lost'), { name: 'gone' })
  assert.equal(await nodeOf('p', ['ServiceAccountTokenPodNodeInfo']), undefined)
})

test('a token can be bound to a node', async () => {
  const made = await answer(bound('Node', 'node'))
  assert.ok(typeof made !== 'string')
  assert.deepEqual(made.claims['kubernetes.io'].node, { name: 'node', uid: 'nu' })
  assert.equal(made.claims['kubernetes.io'].pod, undefined)
})

test('a token with a shorter lifetime than requested causes a warning', async () => {
  const rules = rulesOf(37)
  const made = await answer({}, {}, rules, 1000)
  assert.ok(typeof made !== 'string' && made.spec.expirationSeconds === 1000)
  assert.deepEqual(rules.warnings, [
    'requested expiration of 3600 seconds shortened to 1000 seconds',
  ])
})

const refused: [name: string, spec: Loose, metadata: Loose, rules: TokenRules, stated: string][] = [
  ['a node that is not there', bound('Node', 'x'), {}, rulesOf(37), '404 nodes "x" not found'],
  [
    'another node of the name',
    bound('Node', 'node', 'y'),
    {},
    rulesOf(37),
    '409 Operation cannot be fulfilled on Node "node": the UID in the bound object reference (y) does not match the UID in record. The object might have been deleted and then recreated',
  ],
  [
    'a node without the gate',
    bound('Node', 'node'),
    {},
    rulesOf(37, ['ServiceAccountTokenNodeBinding']),
    '400 cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled',
  ],
  [
    'another name',
    {},
    { name: 'x' },
    rulesOf(37),
    '422 TokenRequest.authentication.k8s.io "bot" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified',
  ],
  [
    'another account of the name',
    {},
    { uid: 'x' },
    rulesOf(37),
    '409 Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "bot": the UID in the token request (x) does not match the UID of the service account (b)',
  ],
]
for (const [name, spec, metadata, rules, stated] of refused)
  test(`a token request is refused for ${name}`, async () => {
    assert.equal(await answer(spec, metadata, rules), stated)
  })
