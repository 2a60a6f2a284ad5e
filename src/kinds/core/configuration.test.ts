import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
  named,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { configMapBehaviour } from './config-map/behaviour.ts'
import { secretBehaviour } from './secret/behaviour.ts'
import { serviceAccountBehaviour } from './service-account/behaviour.ts'

const key = (field: string, name: string) =>
  `${field}[${name}]: Invalid value: "${name}": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`

checkCreate(configMapBehaviour, [
  ['a config map may be empty', named(), []],
  ['keys are checked', named({ data: { 'a b': '' } }), [key('data', 'a b')]],
  [
    'a key is text or binary',
    named({ data: { a: '1' }, binaryData: { a: 'AA==' } }),
    ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
  ],
  [
    'size counts bytes',
    named({ data: { a: 'é'.repeat(524288), b: '1' } }),
    ['[]: Too long: may not be more than 1048576 bytes'],
  ],
])

const frozen = 'Forbidden: field is immutable when `immutable` is set'
const old = inDefault({ immutable: true, data: { a: '1' } })
const labelProblem =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
checkUpdate(configMapBehaviour, [
  ['an immutable one may be relabelled', old, inDefault({ immutable: true, data: { a: '1' } }), []],
  [
    'nothing else of it changes',
    old,
    inDefault({ data: { a: '2' }, binaryData: { b: '' } }),
    [`immutable: ${frozen}`, `data: ${frozen}`, `binaryData: ${frozen}`],
  ],
  [
    'metadata is checked again, as a change and as a whole',
    inDefault(),
    inDefault({}, { uid: 'other', labels: { a: '!' } }),
    [
      'metadata.uid: Invalid value: "other": field is immutable',
      `metadata.labels: Invalid value: "!": ${labelProblem}`,
      `metadata.labels: Invalid value: "!": ${labelProblem}`,
    ],
  ],
])

const typed = (type: string, data?: Record<string, string>) => named({ type, data })
checkCreate(secretBehaviour, [
  ['any type is allowed', typed('example.com/x'), []],
  [
    'a token is some account’s',
    typed('kubernetes.io/service-account-token'),
    ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
  ],
  ['tls', typed('kubernetes.io/tls', { 'tls.crt': '' }), ['data[tls.key]: Required value']],
  [
    'basic auth',
    typed('kubernetes.io/basic-auth'),
    ['data[%s][username]: Required value', 'data[%s][password]: Required value'],
  ],
  ['basic auth by password', typed('kubernetes.io/basic-auth', { password: '' }), []],
  ['ssh', typed('kubernetes.io/ssh-auth', {}), ['data[%s][ssh-privatekey]: Required value']],
  [
    'docker',
    typed('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': 'WzFd' }),
    [
      'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
  ],
])

test('an update without a type keeps the type of a secret', () => {
  const next = named({ type: '' })
  secretBehaviour.prepareForUpdate?.(next, typed('a/b'), contextFor())
  assert.equal(next.type, 'a/b')
})

test('a service account keeps only the names of secrets', () => {
  const account = named({ secrets: [{ name: 's', namespace: 'n' }, { uid: 'x' }] })
  serviceAccountBehaviour.prepareForCreate?.(account, contextFor())
  assert.deepEqual(account.secrets, [{ name: 's' }, {}])
})
