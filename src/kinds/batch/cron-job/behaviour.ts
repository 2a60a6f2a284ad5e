/** CronJob: a job of a template, again and again by a schedule. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { longerThan } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import { checkFinalizerNames, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { podRules, type PodRules } from '#kinds/pod-template/pod-rules.ts'
import { podWarnings } from '#kinds/pod-template/pod-warnings.ts'
import { prepareTemplate } from '#kinds/pod-template/prepare-template.ts'
import { keepSpec, keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { scheduleProblem } from './cron-schedule.ts'
import { checkJobSpec } from '#kinds/workloads/job-spec.ts'
import { goLabelSelector } from '#kinds/workloads/selectors.ts'

const warnsOfZones = change('a cron job whose schedule names a time zone answers with a warning', {
  since: 22,
})

const specPath = FieldPath.of('spec')
const templatePath = specPath.child('jobTemplate', 'spec', 'template')
const policies = ['Allow', 'Forbid', 'Replace']
/** A job's name is the cron job's and eleven characters more, and must fit into a label. */
const nameLengthMax = 52
const cronJobsHaveGeneration = change('cron jobs have a generation', { since: 22 })

const templateOf = (object: KubeObject | undefined): Loose | undefined =>
  object?.spec?.jobTemplate?.spec?.template

function checkSpec(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const { schedule = '', concurrencyPolicy = '' } = spec
  if (schedule === '') {
    errors.push(required(path.child('schedule')))
  } else {
    const problem = scheduleProblem(schedule, rules.release)
    if (problem !== undefined) errors.push(invalid(path.child('schedule'), schedule, problem))
  }
  const count = (field: string) => validateNonnegative(spec[field] ?? 0, path.child(field))
  errors.push(...count('startingDeadlineSeconds'))
  const policyPath = path.child('concurrencyPolicy')
  if (concurrencyPolicy === '') errors.push(required(policyPath))
  else if (!policies.includes(concurrencyPolicy)) {
    errors.push(notSupported(policyPath, concurrencyPolicy, policies))
  }
  errors.push(
    ...checkJobTemplate(spec.jobTemplate?.spec ?? {}, path.child('jobTemplate', 'spec'), rules),
  )
  errors.push(...count('successfulJobsHistoryLimit'), ...count('failedJobsHistoryLimit'))
  return errors
}

function checkJobTemplate(job: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors = checkJobSpec(job, path, rules)
  if (job.selector) {
    const detail = '`selector` will be auto-generated'
    errors.push(invalid(path.child('selector'), goLabelSelector(job.selector), detail))
  }
  if (job.manualSelector === true) {
    errors.push(notSupported(path.child('manualSelector'), true, ['nil', 'false']))
  }
  return errors
}

const rulesOf = (next: KubeObject, old: KubeObject | undefined, context: Context): PodRules =>
  podRules(context, templateOf(next), templateOf(old))

function zoneWarnings(object: KubeObject, context: Context): string[] {
  if (!releaseOf(context.release).has(warnsOfZones) || !(object.spec.schedule ?? '').includes('TZ'))
    return []
  const at = FieldPath.of('spec', 'spec', 'schedule')
  return [
    `CRON_TZ or TZ used in ${at} is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`,
  ]
}

export const cronJobBehaviour: Behaviour = {
  prepareForCreate(object, context) {
    object.status = {}
    if (releaseOf(context.release).has(cronJobsHaveGeneration)) object.metadata.generation = 1
    prepareTemplate(templateOf(object), undefined, context)
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    prepareTemplate(templateOf(next), templateOf(old), context)
    if (releaseOf(context.release).has(cronJobsHaveGeneration)) raiseGeneration(next, old, ['spec'])
  },
  validateCreate(object, context) {
    const errors = [
      ...checkFinalizerNames(object),
      ...checkSpec(object.spec, specPath, rulesOf(object, undefined, context)),
    ]
    const name = object.metadata.name ?? ''
    if (longerThan(name, nameLengthMax)) {
      const detail = `must be no more than ${nameLengthMax} characters`
      errors.push(invalid(FieldPath.of('metadata', 'name'), name, detail))
    }
    return errors
  },
  validateUpdate: (next, old, context) => [
    ...checkMetadataUpdate(next, old),
    ...checkSpec(next.spec, specPath, rulesOf(next, old, context)),
  ],
  warningsOnCreate: (object, context) => [
    ...podWarnings(templateOf(object), templatePath, context),
    ...zoneWarnings(object, context),
  ],
  warningsOnUpdate: (next, old, context) => [
    ...(next.metadata.generation === old.metadata.generation
      ? []
      : podWarnings(templateOf(next), templatePath, context)),
    ...zoneWarnings(next, context),
  ],
  resetFields: [['status']],
  subresources: { status: { prepareForUpdate: keepSpec, resetFields: [['spec']] } },
}
