/**
 * This server's credentials for a webhook: by the webhook's host, from the kubeconfig of the
 * plugin's configuration.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { credentialsFrom, userFor } from './credentials.ts'

let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'credentials-'))
  const user = (name: string) => ({ name, user: { token: name } })
  const config = {
    users: [user('a.b:443'), user('own')],
    contexts: [{ name: 'c', context: { cluster: '', user: 'own' } }],
    'current-context': 'c',
  }
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(config))
})
after(() => rmSync(folder, { recursive: true }))

const named = (...names: string[]) =>
  new Map(names.map((name) => [name, () => ({ authorization: name || 'current' })]))
const users: [names: string[], host: string, expected: string | undefined][] = [
  [[], 'a.b.c:443', undefined],
  [['a.b.c:443', '*.b.c:443', 'a.b.c', '*', ''], 'a.b.c:443', 'a.b.c:443'],
  [['*.b.c:443', '*.c:443', 'a.b.c', '*', ''], 'a.b.c:443', '*.b.c:443'],
  [['*.c:443', 'a.b.c', '*', ''], 'a.b.c:443', '*.c:443'],
  [['a.b.c', '*.b.c', '*', ''], 'a.b.c:443', 'a.b.c'],
  [['*.b.c', '*.c', '*', ''], 'a.b.c:443', '*.b.c'],
  [['*.c', '*', ''], 'a.b.c:443', '*.c'],
  [['a.b.c', '*.b.c', '*', ''], 'a.b.c:8443', '*'],
  [['a.b.c', '*.b.c', '*', ''], 'a.b.c:444', '*'],
  [['*.b.c:8443', 'a.b.c', '*', ''], 'a.b.c:8443', '*.b.c:8443'],
  [['*.a.b.c', ''], 'a.b.c:443', 'current'],
  [['other:443', '*.other'], 'a.b.c:443', undefined],
]
for (const [names, host, expected] of users) {
  test(`of ${names.map((name) => name || 'the current one').join(', ') || 'no user'} for ${host}`, () =>
    assert.equal(userFor(named(...names), host)?.().authorization, expected))
}

const version = 'apiserver.config.k8s.io'
const none = (kind: string, apiVersion: string) =>
  `no kind "${kind}" is registered for version "${apiVersion}"`
const configurations: [
  what: string,
  configuration: Loose | undefined,
  expected: string | number,
][] = [
  ['nothing', undefined, 0],
  ['the present one', { kind: 'WebhookAdmissionConfiguration', apiVersion: `${version}/v1` }, 3],
  ['the older form', { kind: 'WebhookAdmission', apiVersion: `${version}/v1alpha1` }, 3],
  [
    'the older kind in the current version',
    { kind: 'WebhookAdmission', apiVersion: `${version}/v1` },
    none('WebhookAdmission', `${version}/v1`),
  ],
  [
    'the current kind in the older version',
    { kind: 'WebhookAdmissionConfiguration', apiVersion: `${version}/v1alpha1` },
    none('WebhookAdmissionConfiguration', `${version}/v1alpha1`),
  ],
  ['another kind', { kind: 'X', apiVersion: `${version}/v1` }, none('X', `${version}/v1`)],
  ['none at all', {}, none('', '')],
]
for (const [what, configuration, expected] of configurations) {
  test(`a configuration that is ${what}`, async () => {
    const kubeConfigFile = join(folder, 'kubeconfig')
    const given = configuration && { ...configuration, kubeConfigFile }
    const found = await credentialsFrom(given).then(
      (read) => read.size,
      (error: Error) => error.message,
    )
    assert.equal(found, expected)
  })
}

const files: [file: unknown, expected: RegExp][] = [
  ['kubeconfig', /^kubeConfigFile: Invalid value: "kubeconfig": must be an absolute file path$/],
  [undefined, /^kubeConfigFile: Invalid value: "": must be an absolute file path$/],
  ['/not/there', /^invalid configuration in \/not\/there: /],
]
for (const [kubeConfigFile, expected] of files) {
  test(`a kubeconfig at ${kubeConfigFile}`, async () => {
    const kind = 'WebhookAdmissionConfiguration'
    const given = { kind, apiVersion: `${version}/v1`, kubeConfigFile }
    await assert.rejects(credentialsFrom(given), (error: Error) => expected.test(error.message))
  })
}

test('the user of the current context is used for all other servers', async () => {
  const read = await credentialsFrom({
    kind: 'WebhookAdmissionConfiguration',
    apiVersion: `${version}/v1`,
    kubeConfigFile: join(folder, 'kubeconfig'),
  })
  assert.equal(userFor(read, 'a.b:443')?.().authorization, 'Bearer a.b:443')
  assert.equal(userFor(read, 'x.y:443')?.().authorization, 'Bearer own')
})
