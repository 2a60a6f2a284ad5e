import assert from 'node:assert/strict'
import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import {
  claimedIssuer,
  isSignedBy,
  type ParsedToken,
  parseToken,
  signToken,
  tokenKey,
} from './json-web-token.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
const [p256, p384, p521] = ['P-256', 'P-384', 'P-521'].map(curve)
type Pair = { publicKey: KeyObject; privateKey: KeyObject }

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const claims = { iss: 'https://us', sub: 'me' }

/** A token with a valid signature, whatever its header contains. */
function forged(header: Loose, { privateKey }: Pair, hash: string, options: object = {}): string {
  const text = `${part(header)}.${part(claims)}`
  const signature = sign(hash, Buffer.from(text), { key: privateKey, ...options } as never)
  return `${text}.${signature.toString('base64url')}`
}
const p1363 = { dsaEncoding: 'ieee-p1363' }
const pss = (saltLength = constants.RSA_PSS_SALTLEN_DIGEST) => ({
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength,
})

const cases: [name: string, token: () => string, key: Pair, good: boolean][] = [
  ...(['256', '384', '512'] as const).flatMap((bits): (typeof cases)[number][] => [
    [`RS${bits}`, () => forged({ alg: `RS${bits}` }, rsa, `sha${bits}`), rsa, true],
    [`PS${bits}`, () => forged({ alg: `PS${bits}` }, rsa, `sha${bits}`, pss()), rsa, true],
    [
      `PS${bits} with the padding of RS`,
      () => forged({ alg: `PS${bits}` }, rsa, `sha${bits}`),
      rsa,
      false,
    ],
    [
      `RS${bits} with the padding of PS`,
      () => forged({ alg: `RS${bits}` }, rsa, `sha${bits}`, pss()),
      rsa,
      false,
    ],
  ]),
  ['RS256 by another key', () => forged({ alg: 'RS256' }, other, 'sha256'), rsa, false],
  ['RS256 over another digest', () => forged({ alg: 'RS256' }, rsa, 'sha512'), rsa, false],
  ['RS1', () => forged({ alg: 'RS1' }, rsa, 'sha1'), rsa, false],
  ['PS256 with other salt', () => forged({ alg: 'PS256' }, rsa, 'sha256', pss(0)), rsa, false],
  ['ES256', () => forged({ alg: 'ES256' }, p256 as Pair, 'sha256', p1363), p256 as Pair, true],
  ['ES384', () => forged({ alg: 'ES384' }, p384 as Pair, 'sha384', p1363), p384 as Pair, true],
  ['ES512', () => forged({ alg: 'ES512' }, p521 as Pair, 'sha512', p1363), p521 as Pair, true],
  [
    'ES256 in the form of DER',
    () => forged({ alg: 'ES256' }, p256 as Pair, 'sha256'),
    p256 as Pair,
    false,
  ],
  [
    'ES256 by a longer key',
    () => forged({ alg: 'ES256' }, p384 as Pair, 'sha256', p1363),
    p384 as Pair,
    false,
  ],
  [
    'ES384 by a shorter key',
    () => forged({ alg: 'ES384' }, p256 as Pair, 'sha384', p1363),
    p256 as Pair,
    false,
  ],
  [
    'RS256 by a curve',
    () => forged({ alg: 'RS256' }, p256 as Pair, 'sha256', p1363),
    p256 as Pair,
    false,
  ],
  ['ES256 by RSA', () => forged({ alg: 'ES256' }, rsa, 'sha256'), rsa, false],
  ['no algorithm', () => forged({}, rsa, 'sha256'), rsa, false],
  ['a list of algorithms', () => forged({ alg: ['RS256'] }, rsa, 'sha256'), rsa, false],
  [
    'an extension insisted on',
    () => forged({ alg: 'RS256', crit: ['b64'], b64: false }, rsa, 'sha256'),
    rsa,
    false,
  ],
  [
    'extensions insisted on, none',
    () => forged({ alg: 'RS256', crit: [] }, rsa, 'sha256'),
    rsa,
    false,
  ],
  [
    'what is not insisted on',
    () => forged({ alg: 'RS256', typ: 'JWT', jku: 'https://evil', x: 1 }, rsa, 'sha256'),
    rsa,
    true,
  ],
  ['none', () => `${part({ alg: 'none' })}.${part(claims)}.`, rsa, false],
  [
    'a shared secret',
    () => {
      const text = `${part({ alg: 'HS256' })}.${part(claims)}`
      const secret = rsa.publicKey.export({ type: 'spki', format: 'der' })
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
    },
    rsa,
    false,
  ],
]
for (const [name, make, key, good] of cases)
  test(`${name} is ${good ? 'good' : 'refused'}`, () =>
    assert.equal(isSignedBy(parseToken(make()) as ParsedToken, tokenKey(key.publicKey)), good))

for (const [name, pair] of Object.entries({ rsa, p256, p384, p521 }) as [string, Pair][])
  test(`what we sign with ${name} is valid, and invalid with one changed letter`, () => {
    const key = tokenKey(pair.publicKey)
    const token = signToken(claims, pair.privateKey, key)
    const parsed = parseToken(token) as ParsedToken
    assert.equal(parsed.header.kid, key.id)
    assert.ok(isSignedBy(parsed, key))
    const [head, , tail] = token.split('.')
    const changed = parseToken(`${head}.${part({ ...claims, sub: 'mE' })}.${tail}`) as ParsedToken
    assert.ok(!isSignedBy(changed, key))
    assert.ok(!isSignedBy({ ...parsed, signature: parsed.signature.subarray(1) }, key))
    assert.ok(!isSignedBy({ ...parsed, signature: Buffer.alloc(0) }, key))
  })

const [head, body] = [part({ alg: 'RS256' }), part(claims)]
const forms: [name: string, token: string, issuer: string | undefined, parses: boolean][] = [
  ['a token', `${head}.${body}.AAAA`, 'https://us', true],
  ['no signature', `${head}.${body}.`, 'https://us', true],
  ['two parts', `${head}.${body}`, 'https://us', false],
  ['four parts', `${head}.${body}.AAAA.AAAA`, 'https://us', false],
  ['a header that is a list', `${part([])}.${body}.AAAA`, 'https://us', false],
  ['a header that is null', `${part(null)}.${body}.AAAA`, 'https://us', false],
  ['a header that is not JSON', `AAAA.${body}.AAAA`, 'https://us', false],
  ['claims that are a list', `${head}.${part([claims])}.AAAA`, undefined, false],
  ['claims that are text', `${head}.${part('x')}.AAAA`, undefined, false],
  ['claims that are null', `${head}.${part(null)}.AAAA`, undefined, false],
  ['an issuer that is a number', `${head}.${part({ iss: 1 })}.AAAA`, undefined, true],
  ['letters of the other base64', `${head}.${body}.AA+/`, 'https://us', false],
  [
    'letters of the other base64 in the claims',
    `${head}.${body.slice(0, -2)}+/.AAAA`,
    undefined,
    false,
  ],
  ['padding', `${head}.${body}.AAA=`, 'https://us', false],
  ['a letter too many', `${head}.${body}.AAAAA`, 'https://us', false],
  ['blanks', ` ${head}.${body}.AAAA`, 'https://us', false],
]
for (const [name, token, issuer, parses] of forms)
  test(`the form of ${name}`, () => {
    assert.equal(claimedIssuer(token), issuer)
    assert.equal(parseToken(token) !== undefined, parses)
  })

test('other key types sign no tokens', () => {
  const message = /keys must be RSA, or ECDSA on a curve of 256, 384 or 521 bits/
  for (const { publicKey } of [generateKeyPairSync('ed25519'), curve('secp256k1')])
    assert.throws(() => tokenKey(publicKey), message)
})
