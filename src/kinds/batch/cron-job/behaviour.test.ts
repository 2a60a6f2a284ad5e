import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { behaviourOf } from '#kinds/all-kinds/rules.fixture.ts'
import { contextOf, linesOf, objectOf, templateOf } from '#kinds/pod-template/pods.suite.ts'

const cronJobOf = (spec: Loose): KubeObject =>
  objectOf('CronJob', {
    schedule: '@daily',
    concurrencyPolicy: 'Allow',
    jobTemplate: { spec: { template: templateOf({ restartPolicy: 'Never' }) } },
    ...spec,
  })
const rulesIn = (release: number) => behaviourOf('batch/cronjobs', release)
const inZone = { schedule: 'TZ=UTC 0 0 * * *' }

checkBoundaries<Loose, string[]>(
  (release, spec) =>
    linesOf(rulesIn(release).validateCreate?.(cronJobOf(spec), contextOf({ release })) ?? []),
  [
    [
      'a new schedule names a time zone',
      [28, 29],
      inZone,
      [],
      [
        'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      'a time zone with an invalid location name',
      [26, 27],
      { timeZone: '../UTC' },
      ['spec.timeZone: Invalid value: "../UTC": time: invalid location name'],
      ['spec.timeZone: Invalid value: "../UTC": unknown time zone ../UTC'],
    ],
  ],
)

const page = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/'
checkBoundaries<Loose, string[]>(
  (release, spec) =>
    rulesIn(release).warningsOnCreate?.(cronJobOf(spec), contextOf({ release })) ?? [],
  [
    [
      'a new schedule with a time zone causes a warning',
      [28, 29],
      inZone,
      [
        `CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see ${page} for more details`,
      ],
      [],
    ],
  ],
)

checkBoundaries<Loose, unknown>(
  (release, spec) => {
    const { columns, cells } = rulesIn(release).columns ?? {}
    const at = columns?.findIndex(({ name }) => name === 'Timezone') ?? -1
    return at < 0 ? undefined : cells?.(cronJobOf(spec), 0)[at]
  },
  [['a table has the time zone', [29, 30], { timeZone: 'Etc/UTC' }, undefined, 'Etc/UTC']],
)
