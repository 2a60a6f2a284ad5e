/**
 * Pods keep to the level their namespace asks for. A pod that does not is refused, told of in the audit log, or warned
 * of; what makes pods is only told and warned of. A namespace that asks for more hears which of its pods do not comply.
 */
import type { AdmissionPlugin, AdmissionRequest } from '#admission/admission.ts'
import { refusal } from '#admission/refusal.ts'
import type { KubeObject, Loose, ObjectMeta } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { detailsOf, problemsOf, reasonsOf } from './checks.ts'
import { podSecurityConfiguration } from './configuration.ts'
import { isStricter, labelPrefix, type LevelVersion, policyOf, versionText } from './policy.ts'

/** More pods of a namespace are not looked at when it asks for more. */
const podsCheckedMax = 3000
/** Nor for longer. */
const checkingMsMax = 1000

interface PodLike {
  readonly metadata: ObjectMeta
  readonly spec: Loose
}
const template = (found: Loose | undefined): PodLike | undefined =>
  found === undefined ? undefined : { metadata: found.metadata ?? {}, spec: found.spec ?? {} }

/** Where kinds that make pods have what they make them from. */
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

export function podSecurity(
  configuration: Loose | undefined,
  monotonicMs: () => number = () => performance.now(),
): AdmissionPlugin {
  const { defaults, exemptions } = podSecurityConfiguration(configuration)

  /** Like any refusal, but with a message and a reason of its own. */
  const refused = (request: AdmissionRequest, code: number, reason: string, message: string) =>
    new ApiError(code, reason, message, refusal(request, '').details)

  async function evaluate(
    request: AdmissionRequest,
    reader: ObjectReader,
    { metadata, spec }: PodLike,
    enforce: boolean,
  ): Promise<void> {
    if (exemptions.runtimeClasses.includes(spec.runtimeClassName)) return
    const { namespace, auditAnnotations, warnings } = request
    const found = await reader.get('', 'namespaces', '', namespace)
    if (found === undefined) {
      const message = `failed to lookup namespace ${namespace}`
      throw refused(request, 500, 'InternalError', message)
    }
    const [policy, problem] = policyOf(found.metadata.labels, defaults)
    const problems = (asked: LevelVersion) => problemsOf(asked, metadata, spec)
    if (problem !== undefined)
      auditAnnotations.set(`${labelPrefix}error`, `Failed to parse policy: ${problem}`)
    const audited = problems(policy.audit)
    if (audited.length > 0) auditAnnotations.set(`${labelPrefix}audit`, detailsOf(audited))
    const enforced = enforce ? problems(policy.enforce) : []
    if (enforced.length > 0) throw refused(request, 403, 'Failure', detailsOf(enforced))
    const { level, version } = policy.warn
    const warned = problems(policy.warn)
    if (warned.length === 0) return
    warnings.push(
      `would violate "${versionText(version)}" version of "${level}" PodSecurity profile: ${detailsOf(warned)}`,
    )
  }

  async function validateNamespace(request: AdmissionRequest, reader: ObjectReader): Promise<void> {
    const { metadata } = request.object as KubeObject
    const [next, problem] = policyOf(metadata.labels, defaults)
    const [last, known] =
      request.operation === 'CREATE' ? [] : policyOf(request.old?.metadata.labels, defaults)
    if (problem !== undefined && problem !== known) throw refused(request, 422, 'Invalid', problem)
    if (last === undefined) return
    const { level, version } = next.enforce
    const before = last.enforce
    if (level === 'privileged') return
    if (version === before.version && !isStricter(level, before.level)) return
    const name = metadata.name as string
    if (exemptions.namespaces.includes(name)) return
    const pods = await reader.list('', 'pods', name)
    request.warnings.push(...warningsFor(pods, next.enforce))
  }

  function warningsFor(pods: readonly KubeObject[], asked: LevelVersion): string[] {
    const warnings: string[] = []
    if (pods.length > podsCheckedMax)
      warnings.push(
        `Large namespace: only checking the first ${podsCheckedMax} of ${pods.length} pods`,
      )
    const deadline = monotonicMs() + checkingMsMax
    for (const [i, pod] of pods.slice(0, podsCheckedMax).entries()) {
      if (exemptions.runtimeClasses.includes(pod.spec.runtimeClassName)) continue
      const found = problemsOf(asked, pod.metadata, pod.spec)
      if (found.length > 0) warnings.push(`${pod.metadata.name}: ${reasonsOf(found)}`)
      if (monotonicMs() > deadline) {
        warnings.push(`Timeout reached after checking ${i + 1} pods`)
        break
      }
    }
    return warnings
  }

  return {
    name: 'PodSecurity',
    validate(request, reader) {
      const { operation, kind, subresource, namespace, user } = request
      if (operation !== 'CREATE' && operation !== 'UPDATE') return
      const { group, plural } = kind.resource
      const resource = `${group}/${plural}`
      if (resource === '/namespaces')
        return subresource === '' ? validateNamespace(request, reader) : undefined
      const isPod = resource === '/pods'
      const templateOf = templates[resource]
      if (isPod ? ignoredSubresources.has(subresource) : templateOf === undefined) return
      if (!isPod && subresource !== '') return
      if (exemptions.namespaces.includes(namespace) || exemptions.usernames.includes(user.name))
        return
      const object = request.object as KubeObject
      if (isPod) {
        if (operation === 'UPDATE' && !isSignificant(object, request.old as KubeObject)) return
        return evaluate(request, reader, object as unknown as PodLike, true)
      }
      const found = templateOf?.(object)
      return found === undefined ? undefined : evaluate(request, reader, found, false)
    },
  }
}

const podSeccomp = 'seccomp.security.alpha.kubernetes.io/pod'
const containerSeccomp = 'container.seccomp.security.alpha.kubernetes.io/'

/** Whether a change of a pod can matter: images, seccomp annotations, and containers that came. */
function isSignificant(next: KubeObject, old: KubeObject): boolean {
  const note = ({ metadata }: KubeObject, key: string) => metadata.annotations?.[key] ?? ''
  const differs = (a: Loose, b: Loose) => {
    const key = `${containerSeccomp}${a.name}`
    return a.image !== b.image || note(next, key) !== note(old, key)
  }
  if (note(next, podSeccomp) !== note(old, podSeccomp)) return true
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
