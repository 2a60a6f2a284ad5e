/**
 * Validation of the status of jobs. Counts are always checked. Because external controllers can
 * manage jobs, the status must also be consistent with itself and with the old status. Such a rule
 * applies only if its fields change: a recent spec update may have made the stored status
 * inconsistent.
 */
import { duplicate, type FieldError, invalid, invalidUnshown, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goJson } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { samePart } from '#kinds/all-kinds/checks.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import type { Context } from '#kinds/kind.ts'
import { countIndexes, overlapOf } from '#kinds/workloads/index-intervals.ts'
import { checkCounts } from '#kinds/workloads/status-numbers.ts'

const successCriteriaAreChecked = change(
  'the success criteria in the status of a job are checked',
  {
    since: 30,
  },
)
const targetsPrecedeEnds = change('a job ends only after its failure target or success criteria', {
  since: 31,
})
const successOfAnyJob = change('any job can meet its success criteria', { since: 31 })
const suspendedJobsEnd = change('a suspended job without completions can end unstarted', {
  since: 32,
})
const statusesAreWordedAlike = change('errors in the status of a job say "must be"', { since: 34 })
const startIsImmutable = change('the start of a job that runs is immutable', { since: 36 })

const path = FieldPath.of('status')
const conditionsPath = path.child('conditions')

const hasCondition = (job: KubeObject, type: string, status = 'True'): boolean =>
  ((job.status?.conditions ?? []) as Loose[]).some(
    (condition) => condition.type === type && condition.status === status,
  )

const isComplete = (job: KubeObject) => hasCondition(job, 'Complete')
const isFailed = (job: KubeObject) => hasCondition(job, 'Failed')
const isFinished = (job: KubeObject) => isComplete(job) || isFailed(job)
const willFail = (job: KubeObject) => hasCondition(job, 'FailureTarget')
const willSucceed = (job: KubeObject) => hasCondition(job, 'SuccessCriteriaMet')

/** A time behind a pointer, as messages show it. */
const shownTime = (time: string | undefined) =>
  time && asGo(`${time.replace('T', ' ').replace('Z', '')} +0000 UTC`, goJson(time))

export function checkJobStatus(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const status: Loose = next.status ?? {}
  const counts = ['active', 'succeeded', 'failed', 'ready', 'terminating']
  const release = releaseOf(context.release)
  const errors = [...checkCounts(status, counts, path), ...checkUncounted(status)]
  const isManaged = context.feature('JobManagedBy')
  if (isManaged) {
    errors.push(
      ...checkConflicts(next, old),
      ...checkTimes(next, old, release),
      ...(release.has(targetsPrecedeEnds) ? checkTargets(next, old) : []),
      ...checkFinished(next, old, release),
      ...checkIndexes(next, old),
      ...(release.has(targetsPrecedeEnds) ? checkPods(next, old) : []),
    )
  }
  if (release.has(successCriteriaAreChecked)) errors.push(...checkSuccess(next, old, release))
  if (isManaged) errors.push(...checkTransition(next, old, release))
  if (release.has(successCriteriaAreChecked)) errors.push(...checkSuccessTransition(next, old))
  return errors
}

function checkUncounted(status: Loose): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  const uncounted: Loose = status.uncountedTerminatedPods ?? {}
  for (const field of ['succeeded', 'failed']) {
    ;((uncounted[field] ?? []) as string[]).forEach((uid, i) => {
      const at = path.child('uncountedTerminatedPods', field).index(i)
      if (uid === '') errors.push(invalid(at, uid, 'must not be empty'))
      else if (seen.has(uid)) errors.push(duplicate(at, uid))
      seen.add(uid)
    })
  }
  return errors
}

type Question = (job: KubeObject) => unknown

/** Whether any of the given functions returns another value for the new job. */
const isChanged = (next: KubeObject, old: KubeObject, ...questions: Question[]): boolean =>
  questions.some((question) => !samePart(question(next), question(old)))

const field =
  (name: string): Question =>
  ({ status }) =>
    status?.[name]

function checkConflicts(next: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (detail: string) => errors.push(invalidUnshown(conditionsPath, detail))
  if (isChanged(next, old, isComplete, isFailed) && isComplete(next) && isFailed(next)) {
    refuse('cannot set Complete=True and Failed=true conditions')
  }
  if (isChanged(next, old, isComplete, willFail) && isComplete(next) && willFail(next)) {
    refuse('cannot set Complete=True and FailureTarget=true conditions')
  }
  return errors
}

function checkTargets(next: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (detail: string) => errors.push(invalidUnshown(conditionsPath, detail))
  const failed = isChanged(next, old, isFailed, field('failedIndexes')) && isFailed(next)
  if (failed && !willFail(next)) {
    refuse('cannot set Failed=True condition without the FailureTarget=true condition')
  }
  const completed = isChanged(next, old, isComplete, willSucceed) && isComplete(next)
  if (completed && !willSucceed(next)) {
    refuse('cannot set Complete=True condition without the SuccessCriteriaMet=true condition')
  }
  return errors
}

function checkTimes(next: KubeObject, old: KubeObject, release: Release): FieldError[] {
  const errors: FieldError[] = []
  const { startTime, completionTime }: Loose = next.status ?? {}
  const at = path.child('completionTime')
  if (isChanged(next, old, isComplete, field('completionTime'))) {
    if (completionTime && !isComplete(next)) {
      const detail = 'cannot set completionTime when there is no Complete=True condition'
      errors.push(invalid(at, shownTime(completionTime), detail))
    }
    if (!completionTime && isComplete(next)) {
      errors.push(required(at, 'completionTime is required for Complete jobs'))
    }
  }
  const ends = isChanged(next, old, field('startTime'), field('completionTime'))
  if (ends && startTime && completionTime && completionTime < startTime) {
    const detail = release.has(statusesAreWordedAlike)
      ? 'must be equal to or after `startTime`'
      : 'completionTime cannot be set before startTime'
    errors.push(invalid(at, shownTime(completionTime), detail))
  }
  return errors
}

/** A job that has ended has no pods left, and has been started. */
function checkFinished(next: KubeObject, old: KubeObject, release: Release): FieldError[] {
  const errors: FieldError[] = []
  const { spec, status = {} } = next
  const finished = (...questions: Question[]) =>
    isFinished(next) && isChanged(next, old, isFinished, ...questions)
  if (finished(field('active')) && status.active > 0) {
    const detail = 'active>0 is invalid for finished job'
    errors.push(invalid(path.child('active'), status.active, detail))
  }
  const endsUnstarted =
    release.has(suspendedJobsEnd) && spec.suspend === true && spec.completions === 0
  if (finished(field('startTime')) && !status.startTime && !endsUnstarted) {
    errors.push(required(path.child('startTime'), 'startTime is required for finished job'))
  }
  const uncounted: Loose | undefined = status.uncountedTerminatedPods ?? undefined
  const left = (uncounted?.failed ?? []).length + (uncounted?.succeeded ?? []).length
  if (finished(field('uncountedTerminatedPods')) && left > 0) {
    const shown = internalValue('io.k8s.api.batch.v1.UncountedTerminatedPods', uncounted)
    const detail = release.has(statusesAreWordedAlike)
      ? 'must be empty for finished job'
      : 'uncountedTerminatedPods needs to be empty for finished job'
    errors.push(invalid(path.child('uncountedTerminatedPods'), shown, detail))
  }
  return errors
}

function checkIndexes(next: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const { completions, completionMode, backoffLimitPerIndex }: Loose = next.spec
  const { completedIndexes = '', failedIndexes }: Loose = next.status ?? {}
  const isCompletedChanged = isChanged(next, old, field('completedIndexes'))
  const isFailedChanged = isChanged(next, old, field('failedIndexes'))
  const limitsIndexes = typeof backoffLimitPerIndex === 'number'
  const hasFailed = typeof failedIndexes === 'string'
  const refuse = (name: string, value: string, detail: string) =>
    errors.push(invalid(path.child(name), value, detail))
  const parse = (name: string, value: string) => {
    const problem = countIndexes(value, completions)
    if (typeof problem === 'string') refuse(name, value, `error parsing ${name}: ${problem}`)
  }
  const isCounted = typeof completions === 'number'
  if (isCompletedChanged && isCounted) parse('completedIndexes', completedIndexes)
  if (isFailedChanged && isCounted && limitsIndexes && hasFailed) {
    parse('failedIndexes', failedIndexes)
  }
  if (isCompletedChanged && completedIndexes !== '' && completionMode !== 'Indexed') {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode'
    refuse('completedIndexes', completedIndexes, detail)
  }
  if (isFailedChanged && !limitsIndexes && hasFailed) {
    const detail = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'
    refuse('failedIndexes', failedIndexes, detail)
  }
  if ((isFailedChanged || isCompletedChanged) && isCounted && hasFailed) {
    const overlap = overlapOf(completedIndexes, failedIndexes, completions)
    if (overlap !== undefined) refuse('failedIndexes', failedIndexes, overlap)
  }
  return errors
}

function checkPods(next: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const { terminating = 0, ready, active = 0 }: Loose = next.status ?? {}
  const ends = isFinished(next) && isChanged(next, old, isFinished, field('terminating'))
  if (ends && terminating > 0) {
    const detail = 'terminating>0 is invalid for finished job'
    errors.push(invalid(path.child('terminating'), terminating, detail))
  }
  if (
    ready !== undefined &&
    isChanged(next, old, field('ready'), field('active')) &&
    ready > active
  ) {
    errors.push(invalid(path.child('ready'), ready, 'cannot set more ready pods than active'))
  }
  return errors
}

function checkSuccess(next: KubeObject, old: KubeObject, release: Release): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (detail: string) => errors.push(invalidUnshown(conditionsPath, detail))
  const { completionMode, successPolicy }: Loose = next.spec
  const isLimited = !release.has(successOfAnyJob) && !willSucceed(old)
  if (willSucceed(next)) {
    if (isLimited && completionMode !== 'Indexed') {
      refuse('cannot set SuccessCriteriaMet to NonIndexed Job')
    }
    if (isFailed(next)) refuse('cannot set SuccessCriteriaMet=True and Failed=true conditions')
    if (willFail(next)) {
      refuse('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions')
    }
    if (isLimited && !successPolicy) {
      refuse('cannot set SuccessCriteriaMet=True for Job without SuccessPolicy')
    }
  } else if (successPolicy && isComplete(next)) {
    refuse('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True')
  }
  return errors
}

function checkTransition(next: KubeObject, old: KubeObject, release: Release): FieldError[] {
  const errors: FieldError[] = []
  const { spec, status = {} } = next
  const before: Loose = old.status ?? {}
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (!hasCondition(old, type) || hasCondition(next, type)) continue
    const detail = `cannot disable the terminal ${type}=True condition`
    errors.push(invalidUnshown(conditionsPath, detail))
  }
  const refuseDecrease = (counter: string) => {
    if ((status[counter] ?? 0) >= (before[counter] ?? 0)) return
    const detail = `cannot decrease the ${counter} counter`
    errors.push(invalid(path.child(counter), status[counter] ?? 0, detail))
  }
  refuseDecrease('failed')
  const isElastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism
  if (!isElastic) refuseDecrease('succeeded')
  const { completionTime, startTime } = status
  if (completionTime && before.completionTime && completionTime !== before.completionTime) {
    const detail = release.has(statusesAreWordedAlike)
      ? immutableMessage
      : 'completionTime cannot be mutated'
    errors.push(invalid(path.child('completionTime'), shownTime(completionTime), detail))
  }
  const resumes =
    release.has(suspendedJobsEnd) &&
    hasCondition(old, 'Suspended') &&
    hasCondition(next, 'Suspended', 'False')
  const restarts = before.startTime && startTime !== before.startTime && spec.suspend !== true
  if (restarts && !resumes) {
    const at = path.child('startTime')
    const detail = 'field is immutable for unsuspended job once set'
    errors.push(
      release.has(startIsImmutable)
        ? invalid(at, shownTime(startTime), detail)
        : required(at, 'startTime cannot be removed for unsuspended job'),
    )
  }
  return errors
}

function checkSuccessTransition(next: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (detail: string) => errors.push(invalidUnshown(conditionsPath, detail))
  if (willSucceed(old) && !willSucceed(next)) {
    refuse('cannot disable the SuccessCriteriaMet=True condition')
  }
  if (isComplete(old) && !willSucceed(old) && willSucceed(next)) {
    refuse('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions')
  }
  return errors
}
