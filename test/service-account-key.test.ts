/**
 * The key of service accounts is one of its own: tokens outlive the certificate the server shows,
 * and others can sign with it.
 */
import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type RunningServer, startServer } from './running-server.ts'

const flags = ['--storage-backend=sqlite', '--controllers=-*']

test('tokens are signed by pki/sa.key, whatever becomes of the serving certificate', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-account-key-'))
  const reviewed = async (server: RunningServer, token: string) => {
    const path = '/apis/authentication.k8s.io/v1/tokenreviews'
    const { body } = await server.ask('POST', path, { spec: { token } })
    return body.status.user.username
  }
  try {
    const first = await startServer(flags, directory)
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await first.ask('POST', accounts, { metadata: { name: 'bot' } })
    const asked = { spec: { expirationSeconds: 3600 } }
    const { body } = await first.ask('POST', `${accounts}/bot/token`, asked)
    const { token } = body.status
    assert.equal(await reviewed(first, token), 'system:serviceaccount:default:bot')
    const key = createPublicKey(readFileSync(join(directory, 'pki/sa.pub')))
    const [header, claims, signature] = token.split('.')
    const signed = Buffer.from(`${header}.${claims}`)
    const how = { key, dsaEncoding: 'ieee-p1363' } as const
    assert.ok(verify('sha256', signed, how, Buffer.from(signature, 'base64url')))
    await first.stop()
    for (const file of ['apiserver.crt', 'apiserver.key']) rmSync(join(directory, 'pki', file))
    const second = await startServer(flags, directory)
    assert.equal(await reviewed(second, token), 'system:serviceaccount:default:bot')
    await second.stop()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
