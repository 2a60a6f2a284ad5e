import assert from 'node:assert/strict'
import test from 'node:test'
import { ApiError } from '#api/status-error.ts'
import { decodeContinue, encodeContinue } from './continue-token.ts'

test('decoding a token returns what was encoded', () => {
  for (const point of [
    { start: 'a\0', revision: 7 },
    { start: 'ns/ä\0', revision: -1 },
  ]) {
    assert.deepEqual(decodeContinue(encodeContinue(point)), point)
  }
})

test('a foreign token is rejected', () => {
  const made = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const v = 'meta.k8s.io/v1'
  const cases: [token: string, why: RegExp][] = [
    ['%', /illegal base64 data at input byte 0/],
    ['abc=', /illegal base64 data at input byte 3/],
    ['abcde', /illegal base64 data at input byte 4$/],
    ['', /unexpected end of JSON input$/],
    ['e\nw\r\n', /unexpected end of JSON input$/],
    [Buffer.from('{').toString('base64url'), /unexpected end of JSON input$/],
    [Buffer.from(' \n').toString('base64url'), /unexpected end of JSON input$/],
    ['AAAA', /invalid character '\\x00' looking for beginning of value$/],
    [Buffer.from('~').toString('base64url'), /invalid character '~' looking/],
    [Buffer.from("'").toString('base64url'), /invalid character '\\'' looking/],
    [Buffer.from('\x7f').toString('base64url'), /invalid character '\\x7f' looking/],
    ['xw', /invalid character 'Ç' looking/],
    [Buffer.from('{"v" 1}').toString('base64url'), /invalid character '1' after object key$/],
    [Buffer.from('{}}').toString('base64url'), /invalid character '}' after top-level value$/],
    [
      Buffer.from('nul').toString('base64url'),
      /invalid character ' ' in literal null \(expecting 'l'\)$/,
    ],
    [made([]), /json: cannot unmarshal array into Go value of type etcd3\.continueToken$/],
    [made(true), /cannot unmarshal bool into Go value/],
    [made('x'), /cannot unmarshal string into Go value/],
    [made(null), /does not recognize this encoded version ""/],
    [made({ v: null, rv: 1, start: 'a' }), /does not recognize this encoded version ""/],
    [made({ v: 1 }), /unmarshal number into Go struct field continueToken\.v of type string$/],
    [made({ rv: '1' }), /unmarshal string into Go struct field continueToken\.rv of type int64$/],
    [made({ start: [] }), /unmarshal array into Go struct field continueToken\.start of type/],
    [made({}), /does not recognize this encoded version ""/],
    [made({ v: 'v2', rv: 1, start: 'a' }), /does not recognize this encoded version "v2"/],
    [made({ v, start: 'a' }), /incorrect encoded start resourceVersion/],
    [made({ v, rv: 0, start: 'a' }), /incorrect encoded start resourceVersion/],
    [made({ v, rv: null, start: 'a' }), /incorrect encoded start resourceVersion/],
    [made({ v, rv: 1.5, start: 'a' }), /unmarshal number 1\.5 into Go struct field .*rv of type/],
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
