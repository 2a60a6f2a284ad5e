/**
 * The PodSecurityPolicy plugin. A policy that the user or the pod's service account may use must
 * allow the pod. Policies that allow it unchanged take precedence over those that must change it;
 * then the first name wins.
 */
import type { Authorizer } from '#access/authorize.ts'
import { serviceAccountGroups, serviceAccountUserName } from '#access/service-account-name.ts'
import type { User } from '#access/user.ts'
import type { AdmissionPlugin, AdmissionRequest } from '#admission/admission.ts'
import { isPod, isWrite } from '#admission/match.ts'
import { refusal } from '#admission/refusal.ts'
import type { FieldError } from '#api/field-error.ts'
import { byCodePoint } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import { copyWithEmptyMarks } from '#api/written-empty.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { applyPolicy } from './defaults.ts'
import { policyProblems } from './rules.ts'

const annotation = 'kubernetes.io/psp'
const auditPrefix = 'podsecuritypolicy.policy.k8s.io'

export function podSecurityPolicy(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'PodSecurityPolicy',
    async mutate(request, reader) {
      if (request.operation !== 'CREATE' || !isPod(request)) return
      const pod = request.object as KubeObject
      const found = await choose(request, reader, authorizer, true)
      if ('problems' in found) throw refused(request, 'admit', found.problems)
      Object.assign(pod, found.pod)
      pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: found.policy }
      request.auditAnnotations.set(`${auditPrefix}/admit-policy`, found.policy)
    },
    async validate(request, reader) {
      if (!isPod(request) || !isWrite(request) || isOnlyForCollector(request)) return
      const found = await choose(request, reader, authorizer, false)
      if ('problems' in found) throw refused(request, 'validate', found.problems)
      request.auditAnnotations.set(`${auditPrefix}/validate-policy`, found.policy)
    },
  }
}

const refused = (request: AdmissionRequest, step: string, problems: FieldError[]) => {
  const stated = problems.map(({ field, message }) => `${field}: ${message}`).join(' ')
  return refusal(request, `PodSecurityPolicy: unable to ${step} pod: [${stated}]`)
}

/**
 * Changes of owner references and finalizers alone are allowed whatever the policies are, for the
 * garbage collector.
 */
function isOnlyForCollector({ operation, object, old }: AdmissionRequest): boolean {
  if (operation !== 'UPDATE') return false
  const rest = ({ metadata, ...others }: KubeObject) => {
    const { ownerReferences: _, finalizers: __, managedFields: ___, ...meta } = metadata
    return { ...others, metadata: meta }
  }
  return semanticEqual(rest(object as KubeObject), rest(old as KubeObject))
}

type Chosen = { pod: KubeObject; policy: string } | { problems: FieldError[] }

async function choose(
  request: AdmissionRequest,
  reader: ObjectReader,
  authorizer: Authorizer,
  mayChange: boolean,
): Promise<Chosen> {
  const pod = request.object as KubeObject
  const policies = await reader.list('policy', 'podsecuritypolicies')
  if (policies.length === 0)
    throw refusal(request, 'PodSecurityPolicy: no providers available to validate pod request')
  const hint = mayChange ? undefined : pod.metadata.annotations?.[annotation]
  const name = ({ metadata }: KubeObject) => metadata.name as string
  const rank = (one: KubeObject) => (name(one) === hint ? 0 : 1)
  const ordered = [...policies].sort((a, b) => rank(a) - rank(b) || byCodePoint(name(a), name(b)))
  const mayUse = (policy: string) => isAllowed(request, authorizer, policy)
  const failed: [string, FieldError[]][] = []
  let changed: Chosen | undefined
  for (const policy of ordered) {
    const copy = copyWithEmptyMarks(pod)
    applyPolicy(policy, copy)
    const problems = policyProblems(policy, copy)
    if (problems.length > 0) {
      failed.push([name(policy), problems])
      continue
    }
    const same = semanticEqual(pod, copy)
    if ((!same && !mayChange) || !(await mayUse(name(policy)))) continue
    if (same) return { pod: copy, policy: name(policy) }
    changed ??= { pod: copy, policy: name(policy) }
  }
  if (changed !== undefined) return changed
  const problems: FieldError[] = []
  for (const [policy, found] of failed) if (await mayUse(policy)) problems.push(...found)
  return { problems }
}

async function isAllowed(
  { user, namespace, object }: AdmissionRequest,
  authorizer: Authorizer,
  name: string,
): Promise<boolean> {
  const account = object?.spec.serviceAccountName
  const users: User[] = [user]
  if (account) {
    const groups = serviceAccountGroups(namespace)
    users.unshift({ name: serviceAccountUserName(namespace, account), uid: '', groups, extra: {} })
  }
  for (const who of users) {
    for (const group of ['policy', 'extensions']) {
      const { decision } = await authorizer.authorize({
        user: who,
        verb: 'use',
        isResource: true,
        group,
        version: '*',
        resource: 'podsecuritypolicies',
        subresource: '',
        namespace,
        name,
        path: '',
      })
      if (decision === 'allow') return true
    }
  }
  return false
}
