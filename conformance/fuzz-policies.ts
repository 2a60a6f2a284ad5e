/**
 * Random roles, bindings and reviews of them, sent to a real server and to this one: reviews of
 * every kind, requests with impersonation, attempts to grant more than one has, changes of
 * bindings, and reviews that make no sense. Run: fuzz-policies.ts --peer URL --ours URL [--seed N]
 * [--count N] [--keep-going]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from './random.ts'
import type { ComparedResponse } from './compared-response.ts'
import { type Difference, settingsOf, type Step } from './two-servers.ts'

type Body = Record<string, unknown>

const rbac = 'rbac.authorization.k8s.io'
const reviews = '/apis/authorization.k8s.io/v1'
const groups = ['', 'apps', 'batch', '*', 'example.com', rbac]
const resources = [
  ...['pods', 'secrets', 'configmaps', 'deployments', 'jobs', 'roles', 'rolebindings', '*'],
  ...['pods/log', 'pods/exec', '*/scale', 'deployments/scale', 'pods/*', 'namespaces', 'nodes'],
]
const verbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  '*',
  'bind',
  'escalate',
]
const names = ['one', 'two', 'three']
const urls = ['/healthz', '/healthz/*', '*', '/metrics', '/version', '/apis/*', '/api', '/logs/*']
const users = ['alice', 'bob', 'system:anonymous', 'system:serviceaccount:ID:default', '']
const userGroups = [
  'dev',
  'ops',
  'system:authenticated',
  'system:serviceaccounts',
  'system:masters',
]
const existing = ['view', 'edit', 'admin', 'cluster-admin', 'system:discovery', 'nothing']
/** The other server learns of a change of policy a moment later. */
const settleMs = 250
const questionsPerPolicy = 30

class Policies {
  readonly #random: Random
  readonly #id: string

  constructor(seed: number, id: string) {
    this.#random = new Random(seed)
    this.#id = id
  }

  #some<T>(items: readonly T[], most: number, least = 1): T[] {
    const count = least + this.#random.below(most - least + 1)
    return Array.from({ length: count }, () => this.#random.pick(items))
  }

  #rule(cluster: boolean): Body {
    const random = this.#random
    if (random.chance(cluster ? 0.25 : 0.05)) {
      const rule: Body = { nonResourceURLs: this.#some(urls, 2), verbs: this.#some(verbs, 2) }
      if (random.chance(0.1)) rule.resources = ['pods']
      return rule
    }
    const rule: Body = {
      apiGroups: this.#some(groups, 2),
      resources: this.#some(resources, 3),
      verbs: this.#some(verbs, 3),
    }
    if (random.chance(0.3)) rule.resourceNames = this.#some(names, 2)
    if (random.chance(0.06)) delete rule[random.pick(Object.keys(rule))]
    if (random.chance(0.04)) rule[random.pick(Object.keys(rule))] = random.pick([[], [''], ['a b']])
    return rule
  }

  #role(cluster: boolean, name: string): Body {
    const rules = Array.from({ length: this.#random.below(4) }, () => this.#rule(cluster))
    const role: Body = {
      apiVersion: `${rbac}/v1`,
      kind: cluster ? 'ClusterRole' : 'Role',
      metadata: { name },
      rules,
    }
    if (cluster && this.#random.chance(0.15)) {
      role.aggregationRule = {
        clusterRoleSelectors: this.#random.pick<Body[]>([
          [],
          [{ matchLabels: { a: this.#id } }],
          [{ matchExpressions: [{ key: 'a', operator: 'In' }] }],
        ]),
      }
    }
    return role
  }

  #subject(): Body {
    const random = this.#random
    const kind = random.pick(['User', 'Group', 'ServiceAccount'])
    if (kind === 'ServiceAccount') {
      const subject: Body = { kind, name: random.pick(['default', 'robot']), namespace: this.#id }
      if (random.chance(0.15)) delete subject.namespace
      if (random.chance(0.1)) subject.apiGroup = random.pick(['', rbac])
      return subject
    }
    const name = random.pick(kind === 'User' ? users.slice(0, 3) : userGroups.slice(0, 4))
    const subject: Body = { kind, name, apiGroup: rbac }
    if (random.chance(0.1)) subject.apiGroup = random.pick(['', 'v1', 'other'])
    if (random.chance(0.05)) subject.name = ''
    if (random.chance(0.05)) subject.namespace = this.#id
    if (random.chance(0.03)) subject.kind = 'Robot'
    return subject
  }

  #binding(cluster: boolean, name: string): Body {
    const random = this.#random
    const ofCluster = cluster || random.chance(0.4)
    const role = ofCluster
      ? random.pick([...existing, this.#named('c0'), this.#named('c1')])
      : random.pick(['r0', 'r1', 'r2', 'gone'])
    const roleRef: Body = { apiGroup: rbac, kind: ofCluster ? 'ClusterRole' : 'Role', name: role }
    if (random.chance(0.06))
      roleRef[random.pick(Object.keys(roleRef))] = random.pick(['', 'Role', 'x'])
    return {
      apiVersion: `${rbac}/v1`,
      kind: cluster ? 'ClusterRoleBinding' : 'RoleBinding',
      metadata: { name },
      subjects: Array.from({ length: random.below(3) }, () => this.#subject()),
      roleRef,
    }
  }

  /** Names of the cluster are the run's own. */
  #named(name: string): string {
    return `${this.#id}-${name}`
  }

  #path(plural: string, name = ''): string {
    const scope = plural.startsWith('cluster') ? '' : `/namespaces/${this.#id}`
    return `/apis/${rbac}/v1${scope}/${plural}${name === '' ? '' : `/${name}`}`
  }

  writes(): Step[] {
    const steps: Step[] = []
    const post = (plural: string, body: Body) =>
      steps.push({ method: 'POST', path: this.#path(plural), body })
    for (const name of ['r0', 'r1', 'r2']) post('roles', this.#role(false, name))
    for (const name of ['c0', 'c1']) post('clusterroles', this.#role(true, this.#named(name)))
    for (const name of ['b0', 'b1', 'b2', 'b3']) post('rolebindings', this.#binding(false, name))
    post('clusterrolebindings', this.#binding(true, this.#named('cb')))
    return steps
  }

  cleaning(): Step[] {
    return [
      { method: 'DELETE', path: this.#path('clusterrolebindings', this.#named('cb')) },
      { method: 'DELETE', path: this.#path('clusterroles', this.#named('c0')) },
      { method: 'DELETE', path: this.#path('clusterroles', this.#named('c1')) },
    ]
  }

  /** With impersonation: the rights of another user are tested by using them. */
  #as(): Record<string, string> {
    const random = this.#random
    const user = random.pick(users.slice(0, 4)).replace('ID', this.#id)
    const headers: Record<string, string> = { 'impersonate-user': user }
    if (random.chance(0.5)) headers['impersonate-group'] = random.pick(userGroups.slice(0, 4))
    if (random.chance(0.2)) headers['impersonate-extra-scopes'] = random.pick(['a', 'b'])
    if (random.chance(0.03)) delete headers['impersonate-user']
    return headers
  }

  question(): Step {
    const random = this.#random
    const shape = random.next()
    if (shape < 0.45) return this.#review('subjectaccessreviews', 'SubjectAccessReview')
    if (shape < 0.53) return this.#review('selfsubjectaccessreviews', 'SelfSubjectAccessReview')
    if (shape < 0.6) {
      const plural = `namespaces/${this.#id}/localsubjectaccessreviews`
      return this.#review(plural, 'LocalSubjectAccessReview')
    }
    if (shape < 0.72) return this.#rulesReview()
    if (shape < 0.86) return this.#attempt()
    if (shape < 0.95) return this.#gift()
    return this.#change()
  }

  #review(plural: string, kind: string): Step {
    const random = this.#random
    const spec: Body = {}
    if (kind !== 'SelfSubjectAccessReview') {
      spec.user = random.pick(users).replace('ID', this.#id)
      spec.groups = this.#some(userGroups, 2, 0)
    }
    if (random.chance(0.75)) {
      spec.resourceAttributes = {
        namespace: random.chance(0.9) ? this.#id : '',
        verb: random.pick(verbs),
        group: random.pick(groups),
        resource: random.pick(resources).split('/')[0],
        subresource: random.pick(['', '', '', 'log', 'scale', 'exec', 'status']),
        name: random.pick(['', ...names]),
      }
    }
    if (random.chance(0.28) || (spec.resourceAttributes === undefined && random.chance(0.9))) {
      const path = random.pick([
        '/healthz',
        '/healthz/etcd',
        '/metrics',
        '/apis/apps',
        '/',
        '/logs/a',
      ])
      spec.nonResourceAttributes = { path, verb: random.pick(['get', 'post', '*']) }
      if (random.chance(0.8)) delete spec.resourceAttributes
    }
    const body = { apiVersion: 'authorization.k8s.io/v1', kind, metadata: {}, spec }
    if (plural.startsWith('namespaces') && random.chance(0.5))
      body.metadata = { namespace: this.#id }
    const headers = kind.startsWith('Self') || random.chance(0.1) ? this.#as() : {}
    return { method: 'POST', path: `${reviews}/${plural}`, headers, body }
  }

  #rulesReview(): Step {
    const spec = this.#random.chance(0.9) ? { namespace: this.#id } : {}
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec }
    return {
      method: 'POST',
      path: `${reviews}/selfsubjectrulesreviews`,
      headers: this.#as(),
      body,
    }
  }

  #attempt(): Step {
    const random = this.#random
    const space = `/namespaces/${this.#id}`
    return {
      method: random.pick(['GET', 'GET', 'DELETE']),
      path: random.pick([
        `/api/v1${space}/configmaps`,
        `/api/v1${space}/secrets/one`,
        `/apis/apps/v1${space}/deployments/two`,
        `/apis/apps/v1${space}/deployments/two/scale`,
        `/apis/batch/v1${space}/jobs`,
        `/api/v1/nodes/n`,
        `/api/v1${space}/pods/one/log`,
        `/apis/example.com/v1${space}/things`,
        '/healthz/ping',
        '/version',
        '/nothing',
      ]),
      headers: this.#as(),
    }
  }

  /** A user grants rights that the user may not have. */
  #gift(): Step {
    const random = this.#random
    const headers = this.#as()
    const name = random.pick(['g0', 'g1'])
    const cluster = random.chance(0.2)
    const [plural, body] = random.chance(0.5)
      ? [cluster ? 'clusterroles' : 'roles', this.#role(cluster, name)]
      : [cluster ? 'clusterrolebindings' : 'rolebindings', this.#binding(cluster, name)]
    return { method: 'POST', path: `${this.#path(plural)}?dryRun=All`, headers, body }
  }

  #change(): Step {
    const random = this.#random
    const headers = { 'content-type': 'application/merge-patch+json' }
    const name = random.pick(['b0', 'b1'])
    const body = random.pick<Body>([
      { subjects: [this.#subject()] },
      { roleRef: { name: 'other' } },
      { subjects: null },
      { metadata: { labels: { a: 'b' } } },
    ])
    return {
      method: 'PATCH',
      path: `${this.#path('rolebindings', name)}?dryRun=All`,
      headers,
      body,
    }
  }
}

/**
 * What the other server leaves to the order of its maps: rules are compared as a set, and so are
 * the roles that are not there. Which of several bindings it names that allow the same is chance
 * too.
 */
function sorted(seen: ComparedResponse): ComparedResponse {
  const { status, ...body } = (seen.body ?? {}) as { status?: Body }
  if (status === null || typeof status !== 'object') return seen
  if (typeof status.reason === 'string') {
    const [, missing] = /^RBAC: \[(.*)\]$/.exec(status.reason) ?? []
    const reason = missing?.split(', ').sort().join(', ') ?? status.reason.replace(/ by .*/s, '')
    return { ...seen, body: { ...body, status: { ...status, reason } } }
  }
  if (status.resourceRules === undefined) return seen
  const inOrder = (rules: unknown) =>
    [...((rules as unknown[]) ?? [])].map((rule) => JSON.stringify(rule)).sort()
  const told = {
    ...status,
    resourceRules: inOrder(status.resourceRules),
    nonResourceRules: inOrder(status.nonResourceRules),
  }
  return { ...seen, body: { ...body, status: told } }
}

const { seed, count, keepGoing, servers } = await settingsOf(process.argv.slice(2))
let differences = 0
let asked = 0
for (let at = seed; at < seed + count; at++) {
  const id = `policies-${at}-${Date.now().toString(36)}`
  const policies = new Policies(at, id)
  await servers.makeNamespace(id)
  const tell = (step: Step, difference: Difference) => {
    differences++
    console.log(`seed ${at}: ${step.method} ${step.path} ${JSON.stringify(step.headers ?? {})}`)
    console.log(`  sent ${JSON.stringify(step.body)}`)
    console.log(`  ${difference.path}\n  want ${JSON.stringify(difference.want)}`)
    console.log(`  got  ${JSON.stringify(difference.got)}`)
  }
  const hold = async (step: Step) => {
    asked++
    const { difference } = await servers.ask(step, id, sorted)
    if (difference !== undefined) tell(step, difference)
  }
  for (const step of policies.writes()) await hold(step)
  await sleep(settleMs)
  for (let i = 0; i < questionsPerPolicy; i++) await hold(policies.question())
  for (const step of policies.cleaning()) await servers.ask(step, id)
  await servers.deleteNamespace(id)
  if (differences > 0 && !keepGoing) break
}
console.log(`${asked} questions, ${differences} differences`)
process.exitCode = differences > 0 ? 1 : 0
