/**
 * The calls that webhooks receive for every kind, beside a real server: how often they are called,
 * in which order, and every document, over all verbs, dry runs too. Both servers must be able to
 * reach this machine's loopback; what they choose themselves (uids, versions, times, addresses) is
 * hidden. `--only` keeps to some kinds.
 */
import { pathToFileURL } from 'node:url'
import type { Loose } from '#api/object-meta.ts'
import { WebhookServer } from '../src/admission/webhook/webhook-server.suite.ts'
import { sampleFor, samples } from './sample-objects.ts'
import {
  type Client,
  type Difference,
  type Replayer,
  settingsOf,
  type Step,
} from './two-servers.ts'

const { only, more } = await settingsOf(process.argv.slice(2))
const lib = (await import(pathToFileURL(String(more.lib)).href)) as Replayer
const hooks = await WebhookServer.start()
const tokens = { admin: 'admin-token' }
const sides = ['peer', 'ours'] as const
const clients = Object.fromEntries(
  sides.map((side) => [side, new lib.Client({ server: String(more[side]), tokens })]),
) as Record<(typeof sides)[number], Client>
const id = `w${Date.now().toString(36)}`

const group = '/apis/admissionregistration.k8s.io/v1'
const everything = {
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['*/*'],
}
const configuration = (side: string, type: string) => ({
  metadata: { name: `${type}-${id}` },
  webhooks: [
    {
      name: `${type}.example.com`,
      clientConfig: hooks.at(`/${side}/${type}`),
      rules: [everything],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
})
const types = ['mutating', 'validating']
/** The time a server may take to hear of a configuration. */
const settlesMs = 1500

async function both(step: Step) {
  const answers = []
  for (const side of sides) answers.push(lib.observe(await clients[side].request(step), id))
  return answers
}

async function install(): Promise<void> {
  await both({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: id } } })
  const account = { metadata: { name: 'default' } }
  await both({ method: 'POST', path: `/api/v1/namespaces/${id}/serviceaccounts`, body: account })
  for (const side of sides) {
    for (const type of types) {
      const path = `${group}/${type}webhookconfigurations`
      await clients[side].request({ method: 'POST', path, body: configuration(side, type) })
    }
  }
  await new Promise((resolve) => setTimeout(resolve, settlesMs))
}

async function uninstall(): Promise<void> {
  for (const type of types)
    await both({ method: 'DELETE', path: `${group}/${type}webhookconfigurations/${type}-${id}` })
}

/** The requests of a server, without what is its own; what it does for itself is not compared. */
function heard(side: string): unknown {
  const own = /^system:/
  const asked = hooks.received
    .filter(
      ({ path, review }) =>
        path.startsWith(`/${side}/`) && !own.test(review.request.userInfo.username),
    )
    .map(({ path, review }) => ({ by: path.slice(side.length + 2), ...review.request }))
  const text = JSON.stringify(asked)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replace(/"resourceVersion":"\d+"/g, '"resourceVersion":"<rv>"')
    .replace(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/kube-api-access-[a-z0-9]{5}/g, '<token>')
    .replace(/"10\.0\.\d+\.\d+"/g, '"<ip>"')
  return JSON.parse(text)
}

let steps = 0
let documents = 0
let different = 0
async function compare(step: Step): Promise<void> {
  hooks.received.length = 0
  const [want, got] = await both(step)
  steps++
  documents += hooks.received.length / 2
  const found: (Difference | undefined)[] = [
    lib.firstDiff(want.status, got.status),
    lib.firstDiff(heard('peer'), heard('ours')),
  ]
  for (const one of found) {
    if (one === undefined) continue
    different++
    console.log(`${step.method} ${step.path} at ${one.path}`)
    console.log(`    real ${JSON.stringify(one.want)}\n    ours ${JSON.stringify(one.got)}`)
  }
}

const merge = { 'content-type': 'application/merge-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }
function stepsOf(object: Loose, path: string): Step[] {
  const at = `${path}/${object.metadata.name}`
  const named = { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-2` } }
  const change = (name: string) => ({ metadata: { annotations: { [name]: 'yes' } } })
  return [
    { method: 'POST', path: `${path}?dryRun=All`, body: object },
    { method: 'POST', path: `${path}?fieldManager=made`, body: object },
    { method: 'POST', path, body: object },
    { method: 'PATCH', path: `${at}?dryRun=All`, headers: merge, body: change('dry') },
    { method: 'PATCH', path: at, headers: merge, body: change('patched') },
    { method: 'PATCH', path: at, headers: merge, body: change('patched') },
    { method: 'PATCH', path: `${at}?fieldManager=a&force=true`, headers: apply, body: object },
    { method: 'PATCH', path: `${at}?fieldManager=a&force=true`, headers: apply, body: object },
    { method: 'PATCH', path: `${at}-2?fieldManager=a`, headers: apply, body: named },
    { method: 'PUT', path: at, body: object },
    { method: 'PATCH', path: `${at}/status`, headers: merge, body: change('status') },
    {
      method: 'DELETE',
      path: at,
      body: { preconditions: {}, gracePeriodSeconds: 3, dryRun: ['All'] },
    },
    { method: 'DELETE', path: at, body: { propagationPolicy: 'Background' } },
    { method: 'DELETE', path: `${path}?labelSelector=app=web` },
  ]
}

await install()
try {
  for (const sample of samples) {
    if (sample.plural.endsWith('webhookconfigurations') || !(only?.test(sample.plural) ?? true))
      continue
    const { object, path } = sampleFor(sample, id)
    for (const step of stepsOf(object as Loose, path)) await compare(step)
  }
} finally {
  await uninstall()
  hooks.stop()
}
console.log(`${steps} requests, ${documents} documents, ${different} differences`)
process.exitCode = different === 0 ? 0 : 1
