/** What a cron job records about its jobs, and which finished jobs it deletes. Pure. */
import type { KubeObject, Loose } from '#api/object-meta.ts'

export interface JobEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

export interface Records {
  readonly status: Loose
  readonly events: JobEvent[]
}

/** `Complete` or `Failed`. Undefined if the job has not finished. */
const finishedAs = ({ status }: KubeObject): 'Complete' | 'Failed' | undefined =>
  (status?.conditions ?? []).find(
    ({ type, status: is }: Loose) => (type === 'Complete' || type === 'Failed') && is === 'True',
  )?.type

/** The status without jobs that have finished or are gone. */
export function recordJobs({ status = {} }: KubeObject, jobs: readonly KubeObject[]): Records {
  const found = new Map(jobs.map((job) => [job.metadata.uid, job]))
  const active: Loose[] = status.active ?? []
  const events: JobEvent[] = []
  for (const { metadata } of jobs.filter((job) => finishedAs(job) === undefined)) {
    if (active.some(({ uid }) => uid === metadata.uid)) continue
    const message = `Saw a job that the controller did not create or forgot: ${metadata.name}`
    events.push({ type: 'Warning', reason: 'UnexpectedJob', message })
  }
  const stillActive = active.filter(({ uid, name }) => {
    const job = found.get(uid)
    const condition = job && finishedAs(job)
    if (job !== undefined && condition === undefined) return true
    events.push(
      job === undefined
        ? { type: 'Normal', reason: 'MissingJob', message: `Active job went missing: ${name}` }
        : {
            type: 'Normal',
            reason: 'SawCompletedJob',
            message: `Saw completed job: ${name}, condition: ${condition}`,
          },
    )
    return false
  })
  const times = jobs
    .filter((job) => finishedAs(job) === 'Complete')
    .map((job) => job.status?.completionTime ?? '')
  const lastSuccessfulTime = [status.lastSuccessfulTime ?? '', ...times].sort().at(-1)
  return {
    status: withActive(
      { ...status, ...(lastSuccessfulTime && { lastSuccessfulTime }) },
      stillActive,
    ),
    events,
  }
}

export function withActive({ active: _, ...status }: Loose, active: readonly Loose[]): Loose {
  return active.length === 0 ? status : { ...status, active }
}

/** The oldest finished jobs that the history has no room for. */
export function expiredJobs({ spec }: KubeObject, jobs: readonly KubeObject[]): KubeObject[] {
  const limits = [
    ['Complete', spec?.successfulJobsHistoryLimit],
    ['Failed', spec?.failedJobsHistoryLimit],
  ] as const
  return limits.flatMap(([condition, limit]) => {
    if (typeof limit !== 'number') return []
    const finished = jobs.filter((job) => finishedAs(job) === condition).sort(byStart)
    return finished.slice(0, Math.max(0, finished.length - limit))
  })
}

/** Jobs that never started come last. */
function byStart(a: KubeObject, b: KubeObject): number {
  const first = a.status?.startTime ?? '~'
  const second = b.status?.startTime ?? '~'
  if (first !== second) return first < second ? -1 : 1
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}
