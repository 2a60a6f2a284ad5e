/**
 * The manifests for several servers. This server accepts them unchanged, in the oldest release that
 * they are for and in the newest. They are what the chart renders, if helm is on PATH or named by
 * BINNACLE_HELM.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { type RunningServer, startServer } from './running-server.ts'

const root = resolve(import.meta.dirname, '..')
const helm = process.env['BINNACLE_HELM'] ?? 'helm'
const hasHelm = spawnSync(helm, ['version']).status === 0
const chart = `${root}/deploy/helm/binnacle`
const plain = readFileSync(`${root}/deploy/kubernetes/binnacle.yaml`, 'utf8')

interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace: string }
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into some of them
  spec?: any
}

const documentsOf = (text: string): Manifest[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((value) => value !== null)

function rendered(...settings: string[]): Manifest[] {
  const args = ['template', 'binnacle', chart, '--namespace=binnacle']
  const { stdout, stderr, status } = spawnSync(helm, [...args, ...settings], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return documentsOf(stdout)
}

/** Kinds of the Prometheus operator are custom: any object of them is taken. */
const monitors = {
  metadata: { name: 'servicemonitors.monitoring.coreos.com' },
  spec: {
    group: 'monitoring.coreos.com',
    names: { plural: 'servicemonitors', kind: 'ServiceMonitor' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

async function applyAll(server: RunningServer, manifests: Manifest[]): Promise<void> {
  await server.ask('POST', '/api/v1/namespaces', { metadata: { name: 'binnacle' } })
  await server.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', monitors)
  for (const manifest of manifests) {
    const { apiVersion, kind, metadata } = manifest
    const plural = kind === 'NetworkPolicy' ? 'networkpolicies' : `${kind.toLowerCase()}s`
    const base = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
    const path = `${base}/namespaces/${metadata.namespace}/${plural}`
    const strict = '?fieldValidation=Strict'
    const { status, text } = await server.ask('POST', path + strict, manifest)
    assert.equal(status, 201, `${kind} ${metadata.name}: ${text}`)
  }
}

for (const release of ['1.22', '1.37'])
  test(`the plain manifests are valid as ${release}`, async () => {
    const server = await startServer([`--emulated-version=${release}`, '--controllers=-*'])
    await applyAll(server, documentsOf(plain))
    if (hasHelm) {
      const { status, stderr } = spawnSync(
        helm,
        [
          ...['install', 'binnacle', chart, '--namespace=helm', '--create-namespace'],
          ...['--set=serviceMonitor.enabled=true', '--set=etcd.tlsSecret=etcd'],
          ...['--set=etcd.servers={https://etcd:2379}'],
          `--kubeconfig=${server.dataDir}/admin.kubeconfig`,
        ],
        { encoding: 'utf8' },
      )
      assert.equal(status, 0, stderr)
    }
    await server.stop()
  })

test('the plain manifests are the rendered chart', { skip: !hasHelm && 'needs helm' }, () => {
  const settings = '--set=clusterSecret.existingSecret=binnacle-cluster'
  assert.deepEqual(documentsOf(plain), rendered(settings))
})

test('a server at a time may be evicted, however many there are', () => {
  const budget = documentsOf(plain).find(({ kind }) => kind === 'PodDisruptionBudget')
  const { selector: _, ...limits } = budget?.spec ?? {}
  assert.deepEqual(limits, { maxUnavailable: 1 })
  const template = readFileSync(`${chart}/templates/poddisruptionbudget.yaml`, 'utf8')
  assert.match(
    template,
    /^ {2}maxUnavailable: \{\{ \.Values\.podDisruptionBudget\.maxUnavailable \}\}$/m,
  )
  assert.match(readFileSync(`${chart}/values.yaml`, 'utf8'), /^ {2}maxUnavailable: 1$/m)
})

test('the flags in the manifests exist', async () => {
  const { parseFlags } = await import('#settings/flags.ts')
  const deployment = documentsOf(plain).find(({ kind }) => kind === 'Deployment')
  const args: string[] = deployment?.spec.template.spec.containers[0].args
  // Files of Secrets are not on this machine, and the address is known in the pod.
  const known = args
    .filter((arg) => !arg.includes('-file='))
    .map((arg) => arg.replace('$(POD_IP)', '10.0.0.1'))
  assert.equal('error' in parseFlags(known), false, JSON.stringify(parseFlags(known)))
})
