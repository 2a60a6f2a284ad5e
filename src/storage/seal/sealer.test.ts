import assert from 'node:assert/strict'
import { createCipheriv } from 'node:crypto'
import { test } from 'node:test'
import { type Provider, sealerOf } from './sealer.ts'

const secret16 = Buffer.from('0123456789abcdef')
const other16 = Buffer.from('1123456789abcdef')
const secret24 = Buffer.from('0123456789abcdef01234567')
const secret32 = Buffer.from('0123456789abcdef0123456789abcdef')
const other32 = Buffer.from('1123456789abcdef0123456789abcdef')
const cbc = (name: string, secret = secret16): Provider => ({
  is: 'aescbc',
  keys: [{ name, secret }],
})
const gcm = (name: string, secret = secret24): Provider => ({
  is: 'aesgcm',
  keys: [{ name, secret }],
})
const box = (name: string, secret = secret32): Provider => ({
  is: 'secretbox',
  keys: [{ name, secret }],
})
const identity: Provider = { is: 'identity' }
const path = '/registry/ranges/servicenodeports'

const open = (providers: Provider[], stored: Buffer, at = path): string => {
  const opened = sealerOf(providers).open(at, stored)
  if ('problem' in opened) return opened.problem
  return `${opened.stale ? 'stale' : 'fresh'} ${opened.bytes.toString('latin1')}`
}

/**
 * Values that kube-apiserver 1.22.17 stored for a new cluster with each provider and these keys.
 */
const peerValues: [string, Provider, string][] = [
  [
    'aescbc',
    cbc('k1'),
    'azhzOmVuYzphZXNjYmM6djE6azE6e1+k1zVc6c6sjCVF+d8/vF0Whzq8O7U8djbGclTApIODWY6DdDRHFqtOTnOdcFkZSNchTC4fFtC7xkT3blbCnhY8uU8onI2YHOcVv3zF//VFd92Xs1T4G+EADO3bykTr',
  ],
  [
    'aesgcm',
    gcm('k24'),
    'azhzOmVuYzphZXNnY206djE6azI0Ohnf8fBMJjWxFm0yimC9Mx4XLdJo0CZyUL0QGkri7Z2dEzT+zFLlkfQxCBa0ISaXceVfjrubdN6QDNKlflbLLxDObgUn1SfTRaXd7/NJWXpH0HHJs3QC04RviQDsjux7Rg==',
  ],
  [
    'secretbox',
    box('k1'),
    'azhzOmVuYzpzZWNyZXRib3g6djE6azE64ITqHVp8TPXisrAPdRVS+EGXXiMhZTKbxCENP8jcsmS7mDaHX9UDeYV75S0XfCRn3eQXZTEZhU1/OWs55y7wGUR7dTgyMIF+IA+hrEPA5M7q6FXmKPZO8xYUU9EQQs4giBZI+T5nHeHMTcW/',
  ],
]
const peerPlain = Buffer.from(
  'azhzAAoVCgJ2MRIPUmFuZ2VBbGxvY2F0aW9uEiMKEgoAEgAaACIAKgAyADgAQgB6ABILMzAwMDAtMzI3NjcaABoAIgA=',
  'base64',
).toString('latin1')

for (const [name, provider] of peerValues) {
  test(`${name}: encrypted and decrypted values have memory of their own`, () => {
    const sealer = sealerOf([provider])
    const sealed = sealer.seal(path, Buffer.alloc(100))
    const opened = sealer.open(path, sealed)
    assert.ok('bytes' in opened)
    for (const { length, buffer } of [sealed, opened.bytes])
      assert.ok(buffer.byteLength < 2 * length, `${buffer.byteLength} for ${length}`)
  })
}

for (const [name, provider, value] of peerValues) {
  test(`${name}: values of kube-apiserver are decrypted, and ours have the same form`, () => {
    const stored = Buffer.from(value, 'base64')
    assert.equal(open([provider], stored), `fresh ${peerPlain}`)
    const plain = Buffer.from(peerPlain, 'latin1')
    const sealed = sealerOf([provider]).seal(path, plain)
    assert.equal(sealed.length, stored.length)
    assert.equal(open([provider], sealed), `fresh ${peerPlain}`)
    assert.notDeepEqual(sealerOf([provider]).seal(path, plain), sealed)
    for (const length of [0, 1, 15, 16, 17, 1000]) {
      const some = Buffer.alloc(length, 'x')
      assert.equal(open([provider], sealerOf([provider]).seal(path, some)), `fresh ${some}`)
    }
  })
}

test('a value of aesgcm can be decrypted only under its own storage key', () => {
  const sealed = sealerOf([gcm('a')]).seal('/registry/secrets/a/b', Buffer.from('x'))
  assert.equal(open([gcm('a')], sealed, '/registry/secrets/a/b'), 'fresh x')
  const moved = open([gcm('a')], sealed, '/registry/secrets/a/c')
  assert.equal(moved, 'cipher: message authentication failed')
})

const orders: [string, Provider[], Provider[], string][] = [
  ['the first provider is fresh', [cbc('a')], [cbc('a'), gcm('a')], 'fresh x'],
  ['a later provider is stale', [cbc('a')], [gcm('a'), cbc('a')], 'stale x'],
  [
    'a later key is stale',
    [cbc('a')],
    [
      {
        is: 'aescbc',
        keys: [
          { name: 'b', secret: other16 },
          { name: 'a', secret: secret16 },
        ],
      },
    ],
    'stale x',
  ],
  ['two keys of one name are both tried', [cbc('a')], [cbc('a', other16), cbc('a')], 'stale x'],
  ['a name may begin another', [cbc('a:b')], [cbc('a', other16), cbc('a:b')], 'stale x'],
  ['what is plain is stale where it would be sealed', [identity], [cbc('a'), identity], 'stale x'],
  ['what is plain is fresh where it stays so', [identity], [identity, cbc('a')], 'fresh x'],
  ['what is sealed is stale where it would be plain', [box('a')], [identity, box('a')], 'stale x'],
  ['what is plain needs a provider', [identity], [cbc('a')], 'no matching prefix found'],
  ['what is sealed is never plain', [cbc('a')], [identity], 'no matching prefix found'],
]
for (const [name, before, now, expected] of orders) {
  test(name, () => {
    const stored = sealerOf(before).seal(path, Buffer.from('x'))
    assert.equal(open(now, stored), expected)
  })
}

const vector = Buffer.alloc(16, 7)
const enciphered = (blocks: Buffer): Buffer => {
  const cipher = createCipheriv('aes-128-cbc', secret16, vector).setAutoPadding(false)
  return Buffer.concat([Buffer.from('k8s:enc:aescbc:v1:k1:'), vector, cipher.update(blocks)])
}
const endingWith = (last: number, fill = 0x61): Buffer => {
  const blocks = Buffer.alloc(32, fill)
  blocks[31] = last
  return enciphered(blocks)
}
const zeros = (beginning: string, length: number): Buffer =>
  Buffer.concat([Buffer.from(beginning), Buffer.alloc(length)])
const all = [cbc('k1'), gcm('k1'), box('k1'), identity]
const short = 'the stored data was shorter than the required size'
const unpadded = 'invalid PKCS7 data (empty or not padded)'
const noKey = 'no matching key was found for the provided AES transformer'

/** Recorded from kube-apiserver 1.22.17, which does not respond for a vector without blocks. */
const refused: [string, Buffer, string][] = [
  ['no padding', endingWith(0), unpadded],
  ['more padding than there is', endingWith(33), unpadded],
  ['padding that is not', endingWith(17), 'invalid padding on input'],
  ['a vector without blocks', Buffer.from(`k8s:enc:aescbc:v1:k1:${vector}`), unpadded],
  ['half a vector', Buffer.from('k8s:enc:aescbc:v1:k1:abc'), short],
  [
    'half a block',
    Buffer.from(`k8s:enc:aescbc:v1:k1:${vector}x`),
    'the stored data is not a multiple of the block size',
  ],
  ['a key that is not there', Buffer.from('k8s:enc:aescbc:v1:zzz:abc'), noKey],
  ['a key without its end', Buffer.from('k8s:enc:aescbc:v1:k1'), noKey],
  ['another version', Buffer.from('k8s:enc:aescbc:v2:k1:'), 'no matching prefix found'],
  ['another provider', Buffer.from('k8s:enc:kms:v1:x:abc'), 'no matching prefix found'],
  ['half a nonce', Buffer.from('k8s:enc:aesgcm:v1:k1:abc'), short],
  ['a nonce alone', zeros('k8s:enc:aesgcm:v1:k1:', 12), 'cipher: message authentication failed'],
  ['a wrong tag', zeros('k8s:enc:aesgcm:v1:k1:', 40), 'cipher: message authentication failed'],
  ['a box without a tag', zeros('k8s:enc:secretbox:v1:k1:', 24), short],
  [
    'a box with a wrong tag',
    zeros('k8s:enc:secretbox:v1:k1:', 50),
    'output array was not large enough for encryption',
  ],
  [
    'a box of another key',
    Buffer.from('k8s:enc:secretbox:v1:zzz:abc'),
    'no matching key was found for the provided Secretbox transformer',
  ],
]
for (const [name, stored, expected] of refused) {
  test(`refused: ${name}`, () => assert.equal(open(all, stored), expected))
}

test('padding may be longer than a block', () => {
  const blocks = Buffer.alloc(32, 17).fill('x', 0, 15)
  assert.equal(open(all, enciphered(blocks)), `fresh ${'x'.repeat(15)}`)
})

test('if providers give different reasons, each is reported once', () => {
  const providers = [cbc('k1'), cbc('k2'), cbc('k1'), box('k1', other32)]
  assert.equal(open(providers, endingWith(0)), `[${unpadded}, ${noKey}]`)
})
