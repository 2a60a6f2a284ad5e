/**
 * A metrics API with made-up numbers: a server behind another that reports for every container of
 * every pod the usage that a test wants.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueCertificate } from '../../../src/base/certificate.ts'
import type { Ask } from './kubelets.fixture.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of many kinds
type Any = any

export interface Metrics {
  readonly port: number
  /** What every container uses from now on. */
  cpu: string
  stop(): void
}

const groupVersion = 'metrics.k8s.io/v1beta1'
const resources = ['nodes', 'pods'].map((name) => ({
  name,
  singularName: '',
  namespaced: name === 'pods',
  kind: name === 'pods' ? 'PodMetrics' : 'NodeMetrics',
  verbs: ['get', 'list'],
}))

function selfSigned(): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const request = {
    subject: { commonName: 'metrics' },
    publicKey,
    usages: ['server' as const],
    dnsNames: ['localhost'],
    notBeforeMs: Date.now() - 60_000,
    notAfterMs: Date.now() + 3_600_000,
    serial: randomBytes(8),
  }
  const cert = issueCertificate(request, { privateKey })
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string }
}

export async function startMetrics(ask: Ask): Promise<Metrics> {
  const answer = async (url: URL): Promise<object> => {
    const at = /\/namespaces\/([^/]+)\/pods$/.exec(url.pathname)
    if (at === null) return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources }
    const { items } = (await ask('GET', `/api/v1/namespaces/${at[1]}/pods${url.search}`)).body
    const timestamp = new Date().toISOString().replace(/\.\d+/, '')
    const used = items.map(({ metadata, spec }: Any) => ({
      metadata: { name: metadata.name, namespace: metadata.namespace },
      timestamp,
      window: '1s',
      containers: spec.containers.map(({ name }: Any) => ({
        name,
        usage: { cpu: metrics.cpu, memory: '1Mi' },
      })),
    }))
    return { kind: 'PodMetricsList', apiVersion: groupVersion, metadata: {}, items: used }
  }
  const server = createServer(selfSigned(), async (request, response) => {
    const body = await answer(new URL(request.url ?? '', 'https://metrics'))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const metrics: Metrics = {
    port: (server.address() as AddressInfo).port,
    cpu: '0',
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
  return metrics
}
