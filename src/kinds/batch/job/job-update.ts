/**
 * Validation of job updates. Parallelism and suspend may change, and few fields of the template.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage, validateImmutable } from '#api/object-meta-rules.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { copyData } from '#base/copy-data.ts'
import { samePart } from '#kinds/all-kinds/checks.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import type { Context } from '#kinds/kind.ts'
import { checkSelectorUnchanged } from '#kinds/workloads/selectors.ts'

const directivesAreMutable = change('a suspended job can change where its pods may run', {
  since: 23,
})
const gatesAreMutable = change('a suspended job can change the scheduling gates of its pods', {
  since: 27,
})
const stoppedJobsAreNew = change('a suspended job without active pods counts as not started', {
  since: 36,
})

const specPath = FieldPath.of('spec')
const templatePath = specPath.child('template')
const batch = (type: string): string => `io.k8s.api.batch.v1.${type}`
const core = (type: string): string => `io.k8s.api.core.v1.${type}`

/** Everything but the specification itself, which is checked as in a new job. */
export function checkJobChange(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const { spec } = next
  const same = (field: string) =>
    validateImmutable(spec[field] ?? undefined, old.spec[field] ?? undefined, specPath.child(field))
  return [
    ...checkCompletions(spec, old.spec, context),
    ...checkSelectorUnchanged(spec.selector, old.spec.selector, specPath.child('selector')),
    ...checkTemplate(next, old, context),
    ...same('completionMode'),
    ...checkSame(spec, old.spec, 'podFailurePolicy', batch('PodFailurePolicy')),
    ...same('backoffLimitPerIndex'),
    ...same('managedBy'),
    ...checkSame(spec, old.spec, 'successPolicy', batch('SuccessPolicy')),
  ]
}

function checkSame(next: Loose, old: Loose, field: string, type: string): FieldError[] {
  if (samePart(next[field], old[field])) return []
  return [invalid(specPath.child(field), internalValue(type, next[field]), immutableMessage)]
}

/** Indexed jobs grow and shrink, as long as all of their indexes run at once. */
function checkCompletions(next: Loose, old: Loose, context: Context): FieldError[] {
  const path = specPath.child('completions')
  if (!context.feature('ElasticIndexedJob') || next.completionMode !== 'Indexed') {
    return validateImmutable(next.completions, old.completions, path)
  }
  const { completions, parallelism } = next
  const isSame = completions === old.completions || (completions ?? undefined) === undefined
  if (isSame || completions === parallelism) return []
  return [invalid(path, completions, 'can only be modified in tandem with spec.parallelism')]
}

interface Freedom {
  readonly directives: boolean
  readonly resources: boolean
}

/** The template fields that may change in the state of the stored job. */
function freedomOf({ spec, status = {} }: KubeObject, context: Context): Freedom {
  const release = releaseOf(context.release)
  const suspended = spec.suspend === true
  const notStarted = !status.startTime
  const isStopped = ((status.conditions ?? []) as Loose[]).some(
    (condition) => condition.type === 'Suspended' && condition.status === 'True',
  )
  const isIdle = (status.active ?? 0) === 0
  const isFree = release.has(stoppedJobsAreNew)
    ? suspended && (notStarted || isStopped) && isIdle
    : isStopped && isIdle
  const directives = context.feature('MutableSchedulingDirectivesForSuspendedJobs')
    ? suspended && isFree
    : suspended && notStarted && context.feature('JobMutableNodeSchedulingDirectives')
  return {
    directives: directives && release.has(directivesAreMutable),
    resources: context.feature('MutablePodResourcesForSuspendedJobs') && isFree,
  }
}

function checkTemplate(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const freedom = freedomOf(old, context)
  const { template } = next.spec
  const before: Loose = freedom.directives
    ? withDirectives(old.spec.template, template, releaseOf(context.release).has(gatesAreMutable))
    : old.spec.template
  if (freedom.resources && old.spec.suspend === true) {
    const allowed = withResources(before.spec, template.spec)
    if (samePart(template.spec, allowed)) return []
    const shown = internalValue(core('PodSpec'), template.spec)
    return [invalid(FieldPath.of('spec', 'template.spec'), shown, immutableMessage)]
  }
  if (samePart(template, before)) return []
  const shown = internalValue(core('PodTemplateSpec'), template)
  return [invalid(templatePath, shown, immutableMessage)]
}

/**
 * The stored template with the scheduling directives of the new one: node selector, tolerations,
 * labels and annotations.
 */
function withDirectives(old: Loose, next: Loose, withGates: boolean): Loose {
  const template = copyData(old)
  const fields = ['nodeSelector', 'tolerations', ...(withGates ? ['schedulingGates'] : [])]
  for (const field of fields) template.spec[field] = next.spec[field]
  template.metadata = {
    ...template.metadata,
    annotations: next.metadata?.annotations,
    labels: next.metadata?.labels,
  }
  const affinity: Loose | undefined = template.spec.affinity ?? undefined
  const wanted: Loose | undefined = next.spec.affinity ?? undefined
  if (affinity === undefined && wanted === undefined) return template
  template.spec.affinity = { ...affinity, nodeAffinity: wanted?.nodeAffinity }
  const isEmpty = Object.values(template.spec.affinity).every((one) => one === undefined)
  if (wanted === undefined && isEmpty) delete template.spec.affinity
  return template
}

/** The stored spec with the container resources of the new one, matched by container name. */
function withResources(old: Loose, next: Loose): Loose {
  const spec = copyData(old)
  for (const field of ['containers', 'initContainers']) {
    const [from, to]: Loose[][] = [next[field] ?? [], spec[field] ?? []]
    if (from.length !== to.length) continue
    to.forEach((container, i) => {
      const { name, resources } = from[i] as Loose
      if (container.name === name) container.resources = resources
    })
  }
  return spec
}
