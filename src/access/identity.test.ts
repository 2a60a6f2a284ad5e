/** The credentials for webhooks follow the files of their kubeconfig. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { authority, clientUsage, type Made, make } from './certificates.suite.ts'
import type { Identity } from './identity.ts'
import { readKubeconfig, readKubeconfigUsers } from './kubeconfig.ts'

let folder: string
let first: Made
let second: Made
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'identity-'))
  const issuer = await authority('webhooks')
  const wanted = { subject: [{ CN: ['server'] }], issuer, usages: [clientUsage] }
  first = await make(wanted)
  second = await make(wanted)
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://hook' } }],
    users: [
      {
        name: 'u',
        user: {
          token: 'beside',
          tokenFile: 'token',
          'client-certificate': 'cert',
          'client-key': 'key',
        },
      },
    ],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  writeFileSync(join(folder, 'config'), JSON.stringify(config))
})
after(() => rmSync(folder, { recursive: true }))

type Files = { readonly [name in 'token' | 'cert' | 'key']?: string | undefined }
const write = (files: Files) => {
  for (const [name, text] of Object.entries(files)) {
    rmSync(join(folder, name), { force: true })
    if (text !== undefined) writeFileSync(join(folder, name), text)
  }
}
const old = () => ({ token: 'one\n', cert: first.pem, key: first.keyPem })

const rows: [what: string, passMs: number, files: () => Files, expected: string][] = [
  ['a token soon after', 49_000, () => ({ token: 'two' }), 'Bearer one, first'],
  ['a token', 50_000, () => ({ token: ' two\n' }), 'Bearer two, first'],
  [
    'a certificate with its key',
    50_000,
    () => ({ cert: second.pem, key: second.keyPem }),
    'Bearer one, second',
  ],
  [
    'a certificate without its key',
    50_000,
    () => ({ cert: second.pem, token: 'two' }),
    'Bearer one, first',
  ],
  ['a token that is away', 50_000, () => ({ token: undefined }), 'Bearer one, first'],
  ['a token that is empty', 50_000, () => ({ token: '\n' }), 'Bearer one, first'],
]
for (const [what, passMs, files, expected] of rows)
  test(`renewed: ${what}`, async () => {
    write(old())
    let ms = 1000
    const clock = () => ms
    const file = join(folder, 'config')
    const { identity } = await readKubeconfig(file, clock)
    const users = await readKubeconfigUsers(file, clock)
    const shown = ({ authorization, cert, key }: Identity) =>
      `${authorization}, ${[cert, key].join() === [second.pem, second.keyPem].join() ? 'second' : 'first'}`
    assert.equal(shown(identity()), 'Bearer one, first')
    write(files())
    ms += passMs
    assert.equal(shown(identity()), expected)
    assert.equal(shown((users.get('u') as () => Identity)()), expected)
    write(old())
    ms += 50_000
    assert.equal(shown(identity()), 'Bearer one, first')
  })

test('a file that is missing at the start is reported', async () => {
  write({ ...old(), token: undefined })
  await assert.rejects(readKubeconfig(join(folder, 'config')), /ENOENT.*token/)
})
