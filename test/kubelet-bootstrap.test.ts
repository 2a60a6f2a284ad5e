/**
 * How a machine joins: it requests a certificate with a bootstrap token, controllers approve and
 * sign it, and it is a node.
 */
import assert from 'node:assert/strict'
import { webcrypto } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import { type RunningServer, startServer } from './running-server.ts'

let server: RunningServer
before(async () => {
  server = await startServer(['--enable-bootstrap-token-auth', '--authorization-mode=Node,RBAC'])
})
after(() => server.stop())

interface Credentials {
  readonly token?: string
  readonly cert?: string
  readonly key?: string
}

/** As the user of the credentials only. */
function askAs({ token, cert, key }: Credentials, method: string, path: string, body?: object) {
  const ca = readFileSync(join(server.dataDir, 'pki', 'ca.crt'))
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(
      `${server.url}${path}`,
      {
        method,
        ca,
        ...(cert && { cert, key }),
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          'content-type': 'application/json',
        },
      },
      async (answer) => {
        let text = ''
        for await (const chunk of answer) text += chunk
        resolve({ status: answer.statusCode ?? 0, text })
      },
    )
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

async function made(path: string, body: object): Promise<void> {
  const { status, text } = await server.ask('POST', path, body)
  assert.equal(status, 201, text)
}

const rbac = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
const joining = [
  { kind: 'Group', name: 'system:bootstrappers', apiGroup: 'rbac.authorization.k8s.io' },
]
const binding = (name: string, role: string) => ({
  metadata: { name },
  subjects: joining,
  roleRef: { kind: 'ClusterRole', name: role, apiGroup: 'rbac.authorization.k8s.io' },
})

test('a bootstrap token becomes a client certificate, and its bearer a node', async () => {
  const token = 'abcdef.0123456789abcdef'
  await made('/api/v1/namespaces/kube-system/secrets', {
    metadata: { name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
    },
  })
  const asking = 'system:certificates.k8s.io:certificatesigningrequests:nodeclient'
  await made(rbac, binding('join', 'system:node-bootstrapper'))
  await made(rbac, binding('join-approved', asking))

  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const wanted = await Pkcs10CertificateRequestGenerator.create({
    name: 'O=system:nodes, CN=system:node:n1',
    keys: keys as never,
    signingAlgorithm: algorithm,
  })
  const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
  const asked = await askAs({ token }, 'POST', requests, {
    metadata: { name: 'n1' },
    spec: {
      request: Buffer.from(wanted.toString('pem')).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'key encipherment', 'client auth'],
    },
  })
  assert.equal(asked.status, 201, asked.text)
  assert.equal(JSON.parse(asked.text).spec.username, 'system:bootstrap:abcdef')

  let certificate = ''
  for (let i = 0; i < 600 && certificate === ''; i++) {
    const { text } = await askAs({ token }, 'GET', `${requests}/n1`)
    certificate = JSON.parse(text).status?.certificate ?? ''
    if (certificate === '') await sleep(100)
  }
  assert.notEqual(certificate, '', 'no certificate within a minute')

  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  const key = `-----BEGIN PRIVATE KEY-----\n${Buffer.from(pkcs8).toString('base64')}\n-----END PRIVATE KEY-----\n`
  const node = { cert: Buffer.from(certificate, 'base64').toString(), key }
  const register = (name: string) => askAs(node, 'POST', '/api/v1/nodes', { metadata: { name } })
  assert.equal((await register('n1')).status, 201)
  // The token alone may not, and neither may an anonymous user.
  const tokenOnly = await askAs({ token }, 'POST', '/api/v1/nodes', { metadata: { name: 'n2' } })
  const nobody = await askAs({}, 'POST', '/api/v1/nodes', { metadata: { name: 'n3' } })
  assert.deepEqual([tokenOnly.status, nobody.status], [403, 403])
})
