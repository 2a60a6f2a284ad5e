import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEncryptionConfig } from './encryption-config.ts'

const key16 = Buffer.from('0123456789abcdef').toString('base64')
const key32 = Buffer.alloc(32, 'k').toString('base64')
const header = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' }
const config = (providers: unknown, more: object = {}) =>
  JSON.stringify({ ...header, resources: [{ resources: ['secrets'], providers }], ...more })
const keys = (secret: unknown, name: unknown = 'k') => ({ keys: [{ name, secret }] })
const aescbc = keys(key16)

const problemOf = (text: string): string => {
  try {
    readEncryptionConfig(text)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

const at = 'resources[0].providers[0]'
const none = `${at}: Invalid value: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity`
const notBase64 = `${at}.aescbc.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`

const rows: [name: string, text: string, problem: string][] = [
  ['JSON', config([{ aescbc }]), ''],
  ['the older form', config([{ aescbc }], { apiVersion: 'v1', kind: 'EncryptionConfig' }), ''],
  ['unknown fields', config([{ aescbc: { ...aescbc, x: 1 } }], { more: 1 }), ''],
  ['a resource that is not there', config([{ aescbc }]).replace('secrets', 'no.such'), ''],
  ['one name for two keys', config([{ aescbc: { keys: [...aescbc.keys, ...aescbc.keys] } }]), ''],
  ['a key in two lines', config([{ aescbc: keys(`${key16.slice(0, 8)}\n${key16.slice(8)}`) }]), ''],
  ['bits behind the last byte', config([{ aescbc: keys('MDEyMzQ1Njc4OWFiY2RlZh==') }]), ''],
  ['further documents', `${config([{ identity: {} }])}\n---\n[]\n`, ''],
  ['nothing', '', `Object 'Kind' is missing`],
  ['no kind', '{}', `Object 'Kind' is missing`],
  ['a list', '[]', `couldn't get version/kind; the file is no object`],
  ['no YAML', 'a: [', 'yaml: line 1: did not find expected node content'],
  [
    'another kind',
    config([], { kind: 'Foo' }),
    'no kind "Foo" is registered for version "apiserver.config.k8s.io/v1"',
  ],
  [
    'the current kind in the older version',
    config([], { apiVersion: 'v1' }),
    'no kind "EncryptionConfiguration" is registered for version "v1"',
  ],
  [
    'no resources',
    JSON.stringify(header),
    'resources: Required value: at least one resources is required',
  ],
  [
    'neither names nor providers',
    JSON.stringify({ ...header, resources: [{}] }),
    '[resources[0].resources: Required value: at least one resources[0].resources is required, resources[0].providers: Required value: at least one resources[0].providers is required]',
  ],
  ['an empty provider', config([{}]), none],
  ['a provider that is null', config([{ identity: null }]), none],
  ['an unknown provider', config([{ foo: {} }]), none],
  ['a provider in other letters', config([{ AESCBC: aescbc }]), none],
  [
    'two in one',
    config([{ aescbc, identity: {} }]),
    `${at}: Invalid value: more than one provider specified in a single element, should split into different list elements`,
  ],
  [
    'kms',
    config([{ kms: { name: 'a', endpoint: 'unix:///a.sock' } }]),
    `${at}.kms: this provider is not served; aesgcm, aescbc, secretbox are`,
  ],
  [
    'no keys',
    config([{ aescbc: {} }]),
    `${at}.aescbc.keys: Required value: at least one keys is required`,
  ],
  ['no base64', config([{ aescbc: keys('!!!') }]), notBase64],
  ['base64 of addresses', config([{ aescbc: keys('__________________-A') }]), notBase64],
  ['base64 without its end', config([{ aescbc: keys(key16.replace(/=/g, '')) }]), notBase64],
  ['base64 with a space', config([{ aescbc: keys(key16.replace('Q', ' Q')) }]), notBase64],
  [
    'a short key',
    config([{ aesgcm: keys('c2hvcnQ=') }]),
    `${at}.aesgcm.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 5, expected one of [16 24 32]`,
  ],
  [
    'a short key of a box',
    config([{ secretbox: aescbc }]),
    `${at}.secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 16, expected one of [32]`,
  ],
  [
    'neither name nor key',
    config([{ secretbox: { keys: [{}] } }]),
    `[${at}.secretbox.keys[0].name: Required value: name is a mandatory field for a key, ${at}.secretbox.keys[0].secret: Required value: secret is a mandatory field for a key]`,
  ],
  ['no list', config('x'), 'resources[0].providers: Invalid value: must be a list'],
  [
    'no object',
    config([{ aescbc: 5 }]),
    `[${at}.aescbc: Invalid value: must be an object, ${at}.aescbc.keys: Required value: at least one keys is required]`,
  ],
]
for (const [name, text, problem] of rows) {
  test(`${name}: ${problem === '' ? 'taken' : 'refused'}`, () =>
    assert.equal(problemOf(text), problem))
}

test('providers keep their order, and keys theirs', () => {
  const text = `
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets, configmaps]
  providers:
  - secretbox: {keys: [{name: a, secret: ${key32}}]}
  - aescbc: {keys: [{name: b, secret: ${key16}}, {name: c, secret: ${key32}}]}
  - identity: {}
`
  const [{ resources, providers }] = readEncryptionConfig(text)
  assert.deepEqual(resources, ['secrets', 'configmaps'])
  const reported = providers.map((one) =>
    one.is === 'identity' ? one.is : `${one.is} ${one.keys.map(({ name }) => name)}`,
  )
  assert.deepEqual(reported, ['secretbox a', 'aescbc b,c', 'identity'])
})
