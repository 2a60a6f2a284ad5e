import assert from 'node:assert/strict'
import test from 'node:test'
import { ApiError } from '#api/status-error.ts'
import { decodeContinue, encodeContinue } from './continue-token.ts'

test('a token says what it was made of', () => {
  for (const point of [
    { start: 'a\0', revision: 7 },
    { start: 'ns/ä\0', revision: -1 },
  ]) {
    assert.deepEqual(decodeContinue(encodeContinue(point)), point)
  }
})

test('what is no token of ours is refused', () => {
  const made = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const v = 'meta.k8s.io/v1'
  const cases: [token: string, why: RegExp][] = [
    ['%', /illegal base64 data at input byte 0/],
    ['abc=', /illegal base64 data at input byte 3/],
    ['abcde', /illegal base64/],
    ['AAAA', /invalid character/],
    [made([]), /cannot unmarshal/],
    [made(null), /cannot unmarshal/],
    [made({}), /does not recognize this encoded version ""/],
    [made({ v: 'v2', rv: 1, start: 'a' }), /does not recognize this encoded version "v2"/],
    [made({ v, start: 'a' }), /incorrect encoded start resourceVersion/],
    [made({ v, rv: 0, start: 'a' }), /incorrect encoded start resourceVersion/],
    [made({ v, rv: 1.5, start: 'a' }), /incorrect encoded start resourceVersion/],
    [made({ v, rv: 1 }), /encoded start key empty/],
    ...['..', '../b', 'a/../b', 'a//b', './a', '/', 'a/..', '//a'].map(
      (start): [string, RegExp] => [made({ v, rv: 1, start }), /continue key is not valid/],
    ),
  ]
  for (const [token, why] of cases) {
    assert.throws(
      () => decodeContinue(token),
      (error) => error instanceof ApiError && error.code === 400 && why.test(error.message),
      token,
    )
  }
})
