/** One pass over a cron job: its finished jobs, the job that is due, and its status. */
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ControllerParts } from '#controllers/controller.ts'
import type { KeptOwned } from '#controllers/kept.ts'
import { isTerminating, splitKey, unlessMissing } from '#controllers/queue-for.ts'
import { cronJobs, jobs } from '#controllers/resources.ts'
import { timeText } from '#controllers/workloads/conditions.ts'
import type { RecordEvent } from '#controllers/workloads/event-recorder.ts'
import {
  controllerOf,
  controllerReference,
  type OwnerKind,
} from '#controllers/workloads/ownership.ts'
import type { OwnerIndex } from '#controllers/workloads/owner-index.ts'
import { scheduleProblem } from '#kinds/batch/cron-job/cron-schedule.ts'
import { cronTimes, type NextTime } from './cron-times.ts'
import { dueInMs, dueTime, InvalidSchedule } from './due-time.ts'
import { expiredJobs, recordJobs, withActive } from './job-records.ts'
import { timeInZone } from './wall-time.ts'

const scheduledKey = 'batch.kubernetes.io/cronjob-scheduled-timestamp'
const minuteMs = 60_000

export class CronPass {
  readonly #parts: ControllerParts
  readonly #ownerKind: OwnerKind
  readonly #record: RecordEvent

  constructor(parts: ControllerParts, ownerKind: OwnerKind, record: RecordEvent) {
    this.#parts = parts
    this.#ownerKind = ownerKind
    this.#record = record
  }

  /** Resolves with the milliseconds until the next job is due. */
  async run(key: string, index: OwnerIndex): Promise<number | undefined> {
    const { client, clock } = this.#parts
    const [namespace, name] = splitKey(key)
    const cronJob = await unlessMissing(client.get(cronJobs, namespace, name))
    if (cronJob === undefined) return
    const found = await this.#jobsOf(cronJob, index.ownedBy(cronJob.metadata.uid as string))
    const expired = expiredJobs(cronJob, found)
    for (const job of expired) await this.#deleteJob(cronJob, job)
    const left = found.filter((job) => !expired.includes(job))
    const { status, events } = recordJobs(cronJob, left)
    for (const { type, reason, message } of events) this.#record(cronJob, type, reason, message)
    const recorded = { ...cronJob, status }
    const next = this.#timesOf(recorded)
    const after = next && (await this.#start(recorded, left, next))
    const last = after ?? recorded
    if (!isDeepStrictEqual(cronJob.status ?? {}, last.status))
      await unlessMissing(client.update(cronJobs, last, 'status'))
    return next && dueInMs(last, next, clock.now())
  }

  /** Its jobs as stored: those that it owns, and those that its status has. */
  async #jobsOf(
    { metadata, status }: KubeObject,
    owned: Iterable<KeptOwned>,
  ): Promise<KubeObject[]> {
    const active: Loose[] = status?.active ?? []
    const names = new Set([...active, ...owned].map(({ name }): string => name))
    const namespace = metadata.namespace as string
    const read = await Promise.all(
      [...names].map((name) => unlessMissing(this.#parts.client.get(jobs, namespace, name))),
    )
    return read
      .filter((job) => job !== undefined)
      .filter((job) => controllerOf(job.metadata)?.uid === metadata.uid)
  }

  /** Undefined if the cron job starts nothing. */
  #timesOf(cronJob: KubeObject): NextTime | undefined {
    const { schedule = '', timeZone = '', suspend } = cronJob.spec ?? {}
    if (suspend === true || cronJob.metadata.deletionTimestamp !== undefined) return undefined
    const problem = scheduleProblem(schedule, this.#parts.release)
    if (problem === undefined) return cronTimes(schedule, timeZone)
    const message = `unparseable schedule: ${JSON.stringify(schedule)} : ${problem}`
    this.#record(cronJob, 'Warning', 'UnparseableSchedule', message)
    return undefined
  }

  /** The cron job with the status after a job was started. Undefined if none is due. */
  async #start(
    cronJob: KubeObject,
    found: readonly KubeObject[],
    next: NextTime,
  ): Promise<KubeObject | undefined> {
    const scheduledMs = this.#scheduledMs(cronJob, next)
    if (scheduledMs === undefined) return
    let active: Loose[] = cronJob.status?.active ?? []
    const policy = cronJob.spec?.concurrencyPolicy
    if (policy === 'Forbid' && active.length > 0) {
      const message =
        'Not starting job because prior execution is running and concurrency policy is Forbid'
      this.#record(cronJob, 'Normal', 'JobAlreadyActive', message)
      return
    }
    if (policy === 'Replace') {
      for (const job of found.filter(({ metadata }) =>
        active.some(({ uid }) => uid === metadata.uid),
      ))
        await this.#deleteJob(cronJob, job)
      active = []
    }
    const job = await this.#createJob(cronJob, scheduledMs)
    if (job === undefined || active.some(({ uid }) => uid === job.metadata.uid)) return
    const { namespace, name, uid, resourceVersion } = job.metadata
    const reference = { apiVersion: 'batch/v1', kind: 'Job', namespace, name, uid, resourceVersion }
    const status = { ...cronJob.status, lastScheduleTime: timeText(scheduledMs) }
    return { ...cronJob, status: withActive(status, [...active, reference]) }
  }

  #scheduledMs(cronJob: KubeObject, next: NextTime): number | undefined {
    const record = (reason: string, message: string) =>
      this.#record(cronJob, 'Warning', reason, message)
    try {
      const { scheduledMs, isTooLate, hasMissedMany } = dueTime(
        cronJob,
        next,
        this.#parts.clock.now(),
      )
      if (scheduledMs === undefined) return undefined
      if (hasMissedMany) {
        const advice = 'Set or decrease .spec.startingDeadlineSeconds or check clock skew'
        record('TooManyMissedTimes', `too many missed start times. ${advice}`)
      }
      if (!isTooLate) return scheduledMs
      const time = new Date(scheduledMs).toUTCString().replace('GMT', 'UTC')
      record('MissSchedule', `Missed scheduled time to start a job: ${time}`)
      return undefined
    } catch (error) {
      if (!(error instanceof InvalidSchedule)) throw error
      record('InvalidSchedule', `invalid schedule: ${cronJob.spec?.schedule} : ${error.message}`)
      return undefined
    }
  }

  /** The name contains the time, so that a repeated pass does not start the job again. */
  async #createJob(cronJob: KubeObject, scheduledMs: number): Promise<KubeObject | undefined> {
    const { client } = this.#parts
    const { namespace = '', uid } = cronJob.metadata
    const job = this.#jobFor(cronJob, scheduledMs)
    try {
      const made = await client.create(jobs, namespace, job)
      this.#record(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${made.metadata.name}`)
      return made
    } catch (error) {
      if (isTerminating(error)) return undefined
      if (error instanceof ApiError && error.reason === 'AlreadyExists') {
        const existing = await client.get(jobs, namespace, job.metadata.name as string)
        return controllerOf(existing.metadata)?.uid === uid ? existing : undefined
      }
      const message = `Error creating job: ${(error as Error).message}`
      this.#record(cronJob, 'Warning', 'FailedCreate', message)
      throw error
    }
  }

  #jobFor(cronJob: KubeObject, scheduledMs: number): KubeObject {
    const { metadata = {}, spec } = cronJob.spec?.jobTemplate ?? {}
    const hasTime = this.#parts.feature('CronJobsScheduledAnnotation')
    const time = timeInZone(scheduledMs, cronJob.spec?.timeZone ?? '')
    return {
      metadata: {
        name: `${cronJob.metadata.name}-${Math.floor(scheduledMs / minuteMs)}`,
        namespace: cronJob.metadata.namespace as string,
        labels: { ...metadata.labels },
        annotations: { ...metadata.annotations, ...(hasTime && { [scheduledKey]: time }) },
        ownerReferences: [controllerReference(this.#ownerKind, cronJob)],
      },
      spec,
    }
  }

  async #deleteJob(cronJob: KubeObject, { metadata }: KubeObject): Promise<void> {
    const { namespace = '', name = '', uid = '' } = metadata
    const options = { uid, propagationPolicy: 'Background' } as const
    await unlessMissing(this.#parts.client.delete(jobs, namespace, name, options))
    this.#record(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`)
  }
}
