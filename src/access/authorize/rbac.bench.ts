/**
 * The duration of a decision with ten thousand bindings: `node src/access/authorize/rbac.bench.ts`.
 * Our limit is 50 µs; the usual duration is far below a microsecond.
 */
import type { Attributes } from '#access/authorize.ts'
import type { User } from '#access/user.ts'
import { bootstrapPolicy } from './bootstrap-policy.ts'
import { RbacAuthorizer } from './rbac.ts'
import { pluralOf } from './reconcile.ts'

const bindingCount = 10_000
const limitMicroseconds = 50

function filled(): RbacAuthorizer {
  const rbac = new RbacAuthorizer()
  for (const object of bootstrapPolicy(22)) rbac.changed(pluralOf(object), object)
  for (let i = 0; i < bindingCount; i++) {
    const namespace = `ns-${i % 500}`
    rbac.changed('roles', {
      metadata: { name: `role-${i}`, namespace },
      rules: [{ verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['pods', `kind${i}`] }],
    })
    rbac.changed('rolebindings', {
      metadata: { name: `binding-${i}`, namespace },
      subjects: [
        { kind: 'User', name: `user-${i % 1000}` },
        { kind: 'Group', name: `team-${i % 100}` },
      ],
      roleRef: { kind: 'Role', name: `role-${i}` },
    })
    rbac.changed('clusterrolebindings', {
      metadata: { name: `everyone-${i}` },
      subjects: [{ kind: 'Group', name: 'crowd' }],
      roleRef: { kind: 'ClusterRole', name: i % 2 === 0 ? 'view' : `missing-${i % 50}` },
    })
  }
  return rbac
}

const user = (name: string, ...groups: string[]): User => ({
  name,
  uid: '',
  groups: [...groups, 'system:authenticated'],
  extra: {},
})
const ask = (who: User, verb: string, resource: string, namespace: string): Attributes => ({
  user: who,
  verb,
  isResource: true,
  group: '',
  version: 'v1',
  resource,
  subresource: '',
  namespace,
  name: 'x',
  path: '',
})

const rbac = filled()
const questions: [string, Attributes][] = [
  ['allowed, bound by name', ask(user('user-7'), 'get', 'pods', 'ns-7')],
  ['allowed, bound by group', ask(user('someone', 'team-7'), 'get', 'pods', 'ns-7')],
  ['denied, bound to other things', ask(user('user-7', 'team-7'), 'delete', 'pods', 'ns-7')],
  ['denied, bound to nothing', ask(user('nobody'), 'get', 'pods', 'ns-7')],
  ['denied, in a group of 10,000 bindings', ask(user('x', 'crowd'), 'delete', 'nodes', 'ns-7')],
  ['controller of the bootstrap policy', ask(user('system:kube-scheduler'), 'get', 'pods', 'ns-7')],
]
let slowest = 0
for (const [name, question] of questions) {
  const rounds = 200_000
  for (let i = 0; i < rounds / 10; i++) rbac.authorize(question)
  const start = process.cpuUsage()
  for (let i = 0; i < rounds; i++) rbac.authorize(question)
  // Processor time, which does not depend on the load of the machine.
  const each = process.cpuUsage(start).user / rounds
  slowest = Math.max(slowest, each)
  const { decision } = rbac.authorize(question)
  console.log(`${name.padEnd(40)} ${decision.padEnd(6)} ${each.toFixed(3)} µs`)
}
if (slowest > limitMicroseconds) {
  console.error(`slower than ${limitMicroseconds} µs`)
  process.exitCode = 1
}
