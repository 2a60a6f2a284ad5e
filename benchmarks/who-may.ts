/**
 * What authentication and authorization cost per `get`, in processor time. The rows are for an
 * anonymous user where everything is allowed, and for an administrator by token. The last is for a
 * user by token whose right comes from one of ten thousand bindings. Rounds take turns, so that
 * what else the machine does touches all alike; the least of the rounds counts. Run: node
 * benchmarks/who-may.ts [rounds]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../test/running-server.ts'
import { asking } from './asking.ts'

const rounds = Number(process.argv[2] ?? 5)
const bindings = 10_000
const gets = 20_000
const warmUp = 10_000
const atOnce = 64
const rbac = 'rbac.authorization.k8s.io'
const path = '/api/v1/namespaces/default/configmaps/one'

const folder = mkdtempSync(join(tmpdir(), 'binnacle-who-may-'))
const tokens = join(folder, 'tokens.csv')
writeFileSync(tokens, 'root-token,root,1,"system:masters"\nuser-token,user-7,2,"dev"\n')
const flags = ['--controllers=-*']
// AlwaysAllow has no anonymous users: a policy line that allows everything is the next cheapest.
const policy = join(folder, 'policy.jsonl')
const lines = ['system:unauthenticated', 'system:authenticated'].map((group) => ({
  apiVersion: 'abac.authorization.kubernetes.io/v1beta1',
  kind: 'Policy',
  spec: { group, namespace: '*', resource: '*', apiGroup: '*', nonResourcePath: '*' },
}))
writeFileSync(policy, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
const open = await startServer([
  ...flags,
  '--authorization-mode=ABAC',
  `--authorization-policy-file=${policy}`,
])
const closed = await startServer([...flags, `--token-auth-file=${tokens}`])

for (const server of [open, closed]) {
  const admin = asking(server)
  const one = { metadata: { name: 'one' }, data: { text: 'x'.repeat(600) } }
  await admin.ask('POST', '/api/v1/namespaces/default/configmaps', one)
  admin.close()
}
const admin = asking(closed)
const at = `/apis/${rbac}/v1/namespaces/default`
const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]
await admin.ask('POST', `${at}/roles`, { metadata: { name: 'reader' }, rules })
await admin.times(bindings, atOnce, async (i) => {
  const status = await admin.ask('POST', `${at}/rolebindings`, {
    metadata: { name: `binding-${i}` },
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: `user-${i}` }],
  })
  if (status !== 201) throw new Error(`a binding was answered with ${status}`)
})
admin.close()

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const cases = [
  { what: 'anybody, everything allowed', client: asking(open, false), headers: {} },
  { what: 'administrator by token', client: asking(closed, false), headers: bearer('root-token') },
  {
    what: `user by token, ${bindings} bindings`,
    client: asking(closed, false),
    headers: bearer('user-token'),
  },
]
async function round(one: (typeof cases)[number], count: number): Promise<number> {
  const spent = one.client.spentMs()
  await one.client.times(count, atOnce, async () => {
    const status = await one.client.ask('GET', path, undefined, one.headers)
    if (status !== 200) throw new Error(`${one.what} was answered with ${status}`)
  })
  return ((one.client.spentMs() - spent) * 1000) / count
}
const least = new Map<string, number>()
for (const one of cases) await round(one, warmUp)
for (let i = 0; i < rounds; i++) {
  for (const one of cases) {
    const took = await round(one, gets)
    least.set(one.what, Math.min(took, least.get(one.what) ?? Number.POSITIVE_INFINITY))
  }
}
const [free] = [...least.values()]
for (const [what, took] of least) {
  const more = ((took / free - 1) * 100).toFixed(1)
  console.log(`${what.padEnd(34)} ${took.toFixed(1)} µs a get, ${more} % more than nothing asked`)
}
for (const { client } of cases) client.close()
await open.stop()
await closed.stop()
rmSync(folder, { recursive: true, force: true })
