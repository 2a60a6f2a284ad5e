/**
 * What admission policies cost. It is processor time per creation of a config map under ten
 * policies, and of a secret that no policy matches. Both are measured before the policies exist and
 * after. With `--peer`, the same on a kube-apiserver that runs beside; its namespace and policies
 * are deleted in the end.
 *
 *   node benchmarks/admission-policies.ts [--rounds 5] [--creations 2000]
 *     [--peer URL --peer-pid PID --peer-token TOKEN]
 */
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startServer } from '../test/running-server.ts'
import { type Asking, asking, spentMs } from './asking.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    creations: { type: 'string', default: '2000' },
    peer: { type: 'string' },
    'peer-pid': { type: 'string', default: '0' },
    'peer-token': { type: 'string', default: 'admin-token' },
  },
})
const rounds = Number(values.rounds)
const creations = Number(values.creations)
const atOnce = 16
const namespace = 'policies-benchmark'
const policiesAt = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
const bindingsAt = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings'

/** Ten expressions of the kinds that users write. */
const expressions = [
  "has(object.metadata.labels) && 'team' in object.metadata.labels",
  'object.data.all(key, size(object.data[key]) < 1000)',
  "object.metadata.name.matches('^[a-z0-9-]+$')",
  "!object.data.exists(key, key.startsWith('secret'))",
  "object.data.mode in ['fast', 'safe']",
  "request.userInfo.username != 'mallory' || request.operation == 'DELETE'",
  'int(object.data.replicas) >= 1 && int(object.data.replicas) <= 100',
  "variables.name.endsWith('-map') || variables.name.size() < 60",
  "quantity(object.data.memory).isLessThan(quantity('2Gi'))",
  "object.metadata.labels.all(key, !key.contains('_'))",
]

const policy = (name: string, expression: string) => ({
  metadata: { name },
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
      ],
    },
    variables: [{ name: 'name', expression: 'object.metadata.name' }],
    validations: [{ expression, messageExpression: "'rejected: ' + object.metadata.name" }],
  },
})

let made = 0
const object = () => ({
  metadata: { name: `object-${++made}-map`, labels: { team: 'a', tier: 'web', app: 'shop' } },
})
const configMap = () => ({
  ...object(),
  data: { mode: 'fast', replicas: '3', memory: '512Mi', text: 'x'.repeat(400) },
})
const secret = () => ({ ...object(), stringData: { text: 'x'.repeat(400) } })

type Client = Pick<Asking, 'ask' | 'times' | 'spentMs' | 'close'>

/** A client of a server that runs already. */
function peerClient(url: string, pid: number, token: string): Client {
  const session = http2.connect(url, { rejectUnauthorized: false })
  const ask: Asking['ask'] = (method, path, body) =>
    new Promise((resolve, reject) => {
      const stream = session.request({
        ':method': method,
        ':path': path,
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      })
      let status = 0
      stream.on('response', (answer) => {
        status = Number(answer[':status'])
      })
      stream.on('error', reject)
      stream.on('end', () => resolve(status))
      stream.resume()
      stream.end(body === undefined ? undefined : JSON.stringify(body))
    })
  return {
    ask,
    async times(count, workers, one) {
      let next = 0
      const work = async () => {
        while (next < count) await one(next++)
      }
      await Promise.all(Array.from({ length: workers }, work))
    },
    spentMs: () => spentMs(pid),
    close: () => session.destroy(),
  }
}

/** Microseconds of processor time per creation: the least of the rounds. */
async function costOf(client: Client, plural: string, body: () => object): Promise<number> {
  const path = `/api/v1/namespaces/${namespace}/${plural}`
  const round = async () => {
    const spent = client.spentMs()
    await client.times(creations, atOnce, async () => {
      const status = await client.ask('POST', path, body())
      if (status !== 201) throw new Error(`a creation of ${plural} had the status ${status}`)
    })
    return ((client.spentMs() - spent) * 1000) / creations
  }
  await round()
  const costs: number[] = []
  for (let i = 0; i < rounds; i++) costs.push(await round())
  await client.ask('DELETE', path)
  return Math.min(...costs)
}

async function measure(client: Client): Promise<Record<string, number>> {
  await client.ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  await sleep(1000)
  const before = {
    'a config map without policies': await costOf(client, 'configmaps', configMap),
    'a secret without policies': await costOf(client, 'secrets', secret),
  }
  const names = expressions.map((_, i) => `policies-benchmark-${i}`)
  for (const [i, name] of names.entries()) {
    await client.ask('POST', policiesAt, policy(name, expressions[i] as string))
    await client.ask('POST', bindingsAt, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    })
  }
  await sleep(2000)
  const refused = await client.ask('POST', `/api/v1/namespaces/${namespace}/configmaps`, object())
  if (refused !== 422) throw new Error(`the policies are not in force: ${refused}`)
  const after = {
    'a config map under ten policies': await costOf(client, 'configmaps', configMap),
    'a secret beside ten policies': await costOf(client, 'secrets', secret),
  }
  for (const name of names) {
    await client.ask('DELETE', `${bindingsAt}/${name}`)
    await client.ask('DELETE', `${policiesAt}/${name}`)
  }
  await client.ask('DELETE', `/api/v1/namespaces/${namespace}`)
  return { ...before, ...after }
}

const server = await startServer([
  '--controllers=-*',
  '--storage-backend=memory',
  '--emulated-version=1.37',
])
const own = asking(server)
const ours = await measure(own)
own.close()
await server.stop()
let theirs: Record<string, number> = {}
if (values.peer !== undefined) {
  const peer = peerClient(values.peer, Number(values['peer-pid']), values['peer-token'])
  theirs = await measure(peer)
  peer.close()
}
console.log(
  `microseconds of processor time per creation, ${readFileSync('/proc/loadavg', 'utf8').trim()}`,
)
for (const [what, cost] of Object.entries(ours)) {
  const peer = theirs[what]
  const beside = peer === undefined ? '' : `, kube-apiserver ${peer.toFixed(0)}`
  console.log(`${what}: ${cost.toFixed(0)}${beside}`)
}
