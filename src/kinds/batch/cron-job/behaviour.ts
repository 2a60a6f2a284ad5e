/** CronJob: a job of a template, again and again by a schedule. */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { longerThan } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { checkFinalizerNames, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { podRules, type PodRules } from '#kinds/pod-template/pod-rules.ts'
import { prepareTemplate } from '#kinds/pod-template/prepare-template.ts'
import { dropUnlessUsed, keepSpec, keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { jobWarnings } from '#kinds/workloads/job-template.ts'
import { podNameWarnings } from '#kinds/workloads/pod-name-warnings.ts'
import { scheduleProblem, timeZoneProblems } from './cron-schedule.ts'
import { checkJobSpec } from '#kinds/workloads/job-spec.ts'
import { goLabelSelector } from '#kinds/workloads/selectors.ts'

const specPath = FieldPath.of('spec')
const jobPath = specPath.child('jobTemplate', 'spec')
const policies = ['Allow', 'Forbid', 'Replace']
/** A job's name is the cron job's and eleven characters more, and must fit into a label. */
const nameLengthMax = 52
const cronJobsHaveGeneration = change('cron jobs have a generation', { since: 22 })

const warnsOfZones = change('a cron job whose schedule names a time zone answers with a warning', {
  since: 22,
})
const zoneIsNoted = change('a time zone in a cron schedule causes a warning when created', {
  until: 28,
})
const zonesAreFields = change('cron schedules have their time zone in a field of its own', {
  since: 24,
})
const schedulesHaveNoZone = change('new cron schedules cannot name a time zone', { since: 29 })
const jobFieldsAreDropped = change('cron jobs drop fields of disabled job features', {
  since: 37,
})

const templateOf = (object: KubeObject | undefined): Loose | undefined =>
  object?.spec?.jobTemplate?.spec?.template

function checkSchedule(spec: Loose, old: Loose | undefined, rules: PodRules): FieldError[] {
  const path = specPath.child('schedule')
  const schedule: string = spec.schedule ?? ''
  if (schedule === '') return [required(path)]
  const errors: FieldError[] = []
  const problem = scheduleProblem(schedule, rules.release)
  if (problem !== undefined) errors.push(invalid(path, schedule, problem))
  if (!schedule.includes('TZ')) return errors
  const mayName = !rules.has(schedulesHaveNoZone) || (old?.schedule ?? '').includes('TZ')
  if (!mayName) {
    const detail = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
    errors.push(invalid(path, schedule, detail))
  } else if (typeof spec.timeZone === 'string' && rules.has(zonesAreFields)) {
    const detail = 'cannot use both timeZone field and TZ or CRON_TZ in schedule'
    errors.push(invalid(path, schedule, detail))
  }
  return errors
}

function checkTimeZone(spec: Loose, old: Loose | undefined, rules: PodRules): FieldError[] {
  const zone: string | undefined = spec.timeZone ?? undefined
  if (zone === undefined || !rules.has(zonesAreFields)) return []
  if (old !== undefined && old.timeZone === zone) return []
  return timeZoneProblems(zone, rules).map((problem) =>
    invalid(specPath.child('timeZone'), zone, problem),
  )
}

function checkSpec(
  spec: Loose,
  old: Loose | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors = checkSchedule(spec, old, rules)
  const { concurrencyPolicy = '' } = spec
  const count = (field: string) => validateNonnegative(spec[field] ?? 0, path.child(field))
  errors.push(...count('startingDeadlineSeconds'), ...checkTimeZone(spec, old, rules))
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

function zoneWarnings({ spec }: KubeObject, context: Context): string[] {
  const release = releaseOf(context.release)
  if (!release.has(warnsOfZones) || !(spec.schedule ?? '').includes('TZ')) return []
  const at = FieldPath.of('spec', 'spec', 'schedule')
  const page = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/'
  return release.has(schedulesHaveNoZone)
    ? [`cannot use TZ or CRON_TZ in ${at}, use timeZone instead, see ${page} for more details`]
    : [`CRON_TZ or TZ used in ${at} is not officially supported, see ${page} for more details`]
}

function dropDisabledFields(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const isUsed = (old?.spec.timeZone ?? undefined) !== undefined
  dropUnlessUsed(next.spec, 'timeZone', context.feature('CronJobTimeZone'), isUsed)
  const job = next.spec.jobTemplate?.spec
  const oldJob = old?.spec.jobTemplate?.spec
  if (!job || !releaseOf(context.release).has(jobFieldsAreDropped)) return
  dropUnlessUsed(job, 'scheduling', context.feature('WorkloadWithJob'), Boolean(oldJob?.scheduling))
}

export const cronJobBehaviour: Behaviour = {
  prepareForCreate(object, context) {
    object.status = {}
    if (releaseOf(context.release).has(cronJobsHaveGeneration)) object.metadata.generation = 1
    dropDisabledFields(object, undefined, context)
    prepareTemplate(templateOf(object), undefined, context)
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    dropDisabledFields(next, old, context)
    prepareTemplate(templateOf(next), templateOf(old), context)
    if (releaseOf(context.release).has(cronJobsHaveGeneration)) raiseGeneration(next, old, ['spec'])
  },
  validateCreate(object, context) {
    const errors = [
      ...checkFinalizerNames(object),
      ...checkSpec(object.spec, undefined, specPath, rulesOf(object, undefined, context)),
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
    ...checkSpec(next.spec, old.spec, specPath, rulesOf(next, old, context)),
  ],
  warningsOnCreate: (object, context) => [
    ...podNameWarnings(object, context),
    ...jobWarnings(object.spec.jobTemplate?.spec ?? {}, jobPath, context),
    ...(releaseOf(context.release).has(zoneIsNoted) ? zoneWarnings(object, context) : []),
  ],
  warningsOnUpdate: (next, old, context) => [
    ...(next.metadata.generation === old.metadata.generation
      ? []
      : jobWarnings(next.spec.jobTemplate?.spec ?? {}, jobPath, context)),
    ...zoneWarnings(next, context),
  ],
  resetFields: [['status']],
  subresources: { status: { prepareForUpdate: keepSpec, resetFields: [['spec']] } },
}
