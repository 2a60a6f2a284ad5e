/**
 * The PodSecurity plugin. Labels of a namespace select levels to enforce, audit and warn. A pod
 * that violates a level is rejected, recorded in the audit log, or causes a warning. Workloads with
 * a pod template are only audited and warned about. Raising the level of a namespace causes
 * warnings for its existing pods.
 */
import type { AdmissionPlugin, AdmissionRequest } from '#admission/admission.ts'
import { refusal, together } from '#admission/refusal.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose, ObjectMeta } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { ApiError, forbiddenRequest, internalError, invalidObject } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { podSecurityConfiguration } from './configuration.ts'
import { exemptNamespaceWarnings } from './exempt-namespace-warnings.ts'
import { detailsOf, podChecks } from './pod-checks.ts'
import { podWarnings } from './pod-warnings.ts'
import {
  isStricter,
  type LabelProblem,
  labelPrefix,
  type LevelVersion,
  modes,
  policyOf,
  policyText,
  versionText,
} from './policy.ts'

interface PodLike {
  readonly metadata: ObjectMeta
  readonly spec: Loose
}
const template = (found: Loose | undefined): PodLike | undefined =>
  found === undefined ? undefined : { metadata: found.metadata ?? {}, spec: found.spec ?? {} }

/** The pod template of each workload kind. */
const templates: Readonly<Record<string, (object: KubeObject) => PodLike | undefined>> = {
  '/replicationcontrollers': ({ spec }) => template(spec.template),
  '/podtemplates': (object) => template(object.template),
  'apps/replicasets': ({ spec }) => template(spec.template),
  'apps/deployments': ({ spec }) => template(spec.template),
  'apps/statefulsets': ({ spec }) => template(spec.template),
  'apps/daemonsets': ({ spec }) => template(spec.template),
  'batch/jobs': ({ spec }) => template(spec.template),
  'batch/cronjobs': ({ spec }) => template(spec.jobTemplate?.spec?.template),
}
const ignoredSubresources = new Set(
  'exec attach binding eviction log portforward proxy status'.split(' '),
)

/** Differences in messages between releases. */
const saysPolicy = change('PodSecurity names the policy that a pod violates', { since: 23 })
const namesLabels = change('PodSecurity names the labels that it cannot read', { since: 23 })
const explainsExemptions = change('the audit log has why PodSecurity exempts a pod', { since: 23 })

export interface PodSecurityOptions {
  readonly release: Release
  readonly feature: (gate: string) => boolean
  readonly monotonicMs?: () => number
}

export function podSecurity(
  configuration: Loose | undefined,
  { release, feature, monotonicMs = () => performance.now() }: PodSecurityOptions,
): AdmissionPlugin {
  const { defaults, exemptions } = podSecurityConfiguration(configuration, release)
  const findProblems = podChecks(release, feature)
  const existingPods = podWarnings({ release, findProblems, monotonicMs, exemptions })
  const setup = { release, defaults, exemptions, findProblems }
  return {
    name: 'PodSecurity',
    validate(request, reader) {
      const { operation, kind, subresource } = request
      if (operation !== 'CREATE' && operation !== 'UPDATE') return
      const { group, plural } = kind.resource
      const resource = `${group}/${plural}`
      if (resource === '/namespaces') {
        if (subresource !== '') return
        return validateNamespace({ ...setup, existingPods }, request, reader)
      }
      const isPod = resource === '/pods'
      const templateOf = templates[resource]
      if (isPod ? ignoredSubresources.has(subresource) : templateOf === undefined) return
      if (!isPod && subresource !== '') return
      const exemption = exemptionOf(exemptions, request)
      if (exemption !== undefined) {
        if (release.has(explainsExemptions)) note(request, 'exempt', exemption)
        return
      }
      const object = request.object as KubeObject
      if (isPod) {
        if (operation === 'UPDATE' && !isSignificant(object, request.old as KubeObject, release))
          return
        return evaluate(setup, request, reader, { pod: object as unknown as PodLike, modes })
      }
      const pod = templateOf?.(object)
      return pod === undefined
        ? undefined
        : evaluate(setup, request, reader, { pod, modes: informing })
    },
  }
}

type Configuration = ReturnType<typeof podSecurityConfiguration>

/** The parsed configuration of the plugin, and the checks of the release. */
interface Setup extends Pick<Configuration, 'defaults' | 'exemptions'> {
  readonly release: Release
  readonly findProblems: ReturnType<typeof podChecks>
}

function exemptionOf(
  { namespaces, usernames }: Configuration['exemptions'],
  { namespace, user }: AdmissionRequest,
): string | undefined {
  if (namespaces.includes(namespace)) return 'namespace'
  return usernames.includes(user.name) ? 'user' : undefined
}

function note({ auditAnnotations }: AdmissionRequest, key: string, text: string): void {
  auditAnnotations.set(labelPrefix + key, text)
}

/** A rejection with its own message and reason. */
const refused = (request: AdmissionRequest, code: number, reason: string, message: string) =>
  new ApiError(code, reason, message, refusal(request, '').details)

/** Joins problems with labels to one text. */
const problemText = (problems: readonly LabelProblem[], release: Release): string =>
  together(
    problems.map(({ error, place }) =>
      release.has(namesLabels)
        ? `${error.field}: ${error.message}`
        : `${place}: ${error.message.replace(/^.*?: (?=must be )/, '')}`,
    ),
  )

const informing = ['audit', 'warn'] as const

/** Rejects, audits and warns about a pod as the labels of its namespace specify. */
async function evaluate(
  { release, defaults, exemptions, findProblems }: Setup,
  request: AdmissionRequest,
  reader: ObjectReader,
  { pod, modes: modesUsed }: { pod: PodLike; modes: typeof modes | typeof informing },
): Promise<void> {
  const { metadata, spec } = pod
  const isNew = release.has(saysPolicy)
  const enforces = modesUsed === modes
  const found = await reader.get('', 'namespaces', '', request.namespace)
  if (found === undefined) throw noNamespace(request, isNew)
  const { policy, problems } = policyOf(found.metadata.labels, defaults, release)
  if (problems.length === 0 && modesUsed.every((mode) => policy[mode].level === 'privileged')) {
    if (enforces && isNew) note(request, 'enforce-policy', 'privileged:latest')
    return
  }
  if (exemptions.runtimeClasses.includes(spec.runtimeClassName)) {
    if (release.has(explainsExemptions)) note(request, 'exempt', 'runtimeClass')
    return
  }
  if (problems.length > 0)
    note(request, 'error', `Failed to parse policy: ${problemText(problems, release)}`)
  const detailsAt = (wanted: LevelVersion) => detailsOf(findProblems(wanted, metadata, spec))
  if (enforces && isNew) note(request, 'enforce-policy', policyText(policy.enforce))
  const audited = detailsAt(policy.audit)
  if (audited !== '') {
    if (isNew) note(request, 'audit-violations', wouldViolate(policy.audit, audited))
    else note(request, 'audit', audited)
  }
  const enforced = enforces ? detailsAt(policy.enforce) : ''
  if (enforced !== '') throw violation(request, policy.enforce, enforced, isNew)
  const warned = detailsAt(policy.warn)
  if (warned === '') return
  const warn = isNew ? wouldViolate : wouldViolateProfile
  request.warnings.push(warn(policy.warn, warned))
}

function noNamespace(request: AdmissionRequest, isNew: boolean): ApiError {
  const { namespace } = request
  return isNew
    ? internalError(`failed to lookup namespace ${goQuote(namespace)}`)
    : refused(request, 500, 'InternalError', `failed to lookup namespace ${namespace}`)
}

function violation(
  request: AdmissionRequest,
  wanted: LevelVersion,
  details: string,
  isNew: boolean,
): ApiError {
  if (!isNew) return refused(request, 403, 'Failure', details)
  const why = `violates PodSecurity ${goQuote(policyText(wanted))}: ${details}`
  return forbiddenRequest(request.kind, request.name, why)
}

/** Rejects labels that cannot be parsed, and warns about pods that violate a stricter level. */
async function validateNamespace(
  {
    release,
    defaults,
    exemptions,
    existingPods,
  }: Setup & { existingPods: ReturnType<typeof podWarnings> },
  request: AdmissionRequest,
  reader: ObjectReader,
): Promise<void> {
  const { metadata } = request.object as KubeObject
  const name = metadata.name as string
  const next = policyOf(metadata.labels, defaults, release)
  const last =
    request.operation === 'CREATE'
      ? undefined
      : policyOf(request.old?.metadata.labels, defaults, release)
  const problem = problemText(next.problems, release)
  const isOld = last !== undefined && problem === problemText(last.problems, release)
  if (next.problems.length > 0 && !isOld)
    throw release.has(namesLabels)
      ? invalidObject(
          { group: '', kind: 'Namespace' },
          request.name,
          next.problems.map(({ error }) => error),
        )
      : refused(request, 422, 'Invalid', problem)
  const isExempt = exemptions.namespaces.includes(name)
  const warnings = isExempt
    ? exemptNamespaceWarnings(name, next.policy, defaults, metadata.labels, release)
    : []
  if (last === undefined) return void request.warnings.push(...warnings)
  const { enforce } = next.policy
  const before = last.policy.enforce
  if (enforce.level === 'privileged') return
  if (enforce.version === before.version && !isStricter(enforce.level, before.level)) return
  if (isExempt) return void request.warnings.push(...warnings)
  const pods = await reader.list('', 'pods', name)
  request.warnings.push(...existingPods(name, pods, enforce))
}

const wouldViolate = (wanted: LevelVersion, details: string): string =>
  `would violate PodSecurity ${goQuote(policyText(wanted))}: ${details}`

const wouldViolateProfile = ({ level, version }: LevelVersion, details: string): string =>
  `would violate "${versionText(version)}" version of "${level}" PodSecurity profile: ${details}`

const podSeccomp = 'seccomp.security.alpha.kubernetes.io/pod'
const containerSeccomp = 'container.seccomp.security.alpha.kubernetes.io/'

const podNoteCounts = change('PodSecurity looks at changes of the seccomp annotation of pods', {
  until: 24,
})
const containerNotesCount = change('PodSecurity looks at changes of seccomp annotations', {
  until: 26,
})

/**
 * Whether an update of a pod can change the result: a new image, a new container, or in older
 * releases a seccomp annotation.
 */
function isSignificant(next: KubeObject, old: KubeObject, release: Release): boolean {
  const note = ({ metadata }: KubeObject, key: string) => metadata.annotations?.[key] ?? ''
  const notes = release.has(containerNotesCount)
  const differs = (a: Loose, b: Loose) => {
    const key = `${containerSeccomp}${a.name}`
    return a.image !== b.image || (notes && note(next, key) !== note(old, key))
  }
  if (release.has(podNoteCounts) && note(next, podSeccomp) !== note(old, podSeccomp)) return true
  for (const field of ['containers', 'initContainers']) {
    const [now, before]: Loose[][] = [next.spec[field] ?? [], old.spec[field] ?? []]
    if (now?.length !== before?.length) return true
    if (now?.some((container, i) => differs(container, before?.[i] as Loose))) return true
  }
  const ephemeral: Loose[] = old.spec.ephemeralContainers ?? []
  return ((next.spec.ephemeralContainers ?? []) as Loose[]).some((container) => {
    const before = ephemeral.find(({ name }) => name === container.name)
    return before === undefined || differs(container, before)
  })
}
