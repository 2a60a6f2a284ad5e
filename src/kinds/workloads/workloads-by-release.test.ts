/** Rules that workloads share, on both sides of the release that changed them. */
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { behaviourOf } from '#kinds/all-kinds/rules.fixture.ts'
import { contextOf, linesOf, objectOf, templateOf } from '#kinds/pod-template/pods.suite.ts'

const jobOf = (spec: Loose, name = 'x'): KubeObject => {
  const job = objectOf('Job', { template: templateOf({ restartPolicy: 'Never' }), ...spec })
  return { ...job, metadata: { ...job.metadata, name } }
}
const jobRules = (release: number) => behaviourOf('batch/jobs', release)

const failIndex = {
  completionMode: 'Indexed',
  completions: 1,
  podFailurePolicy: {
    rules: [{ action: 'FailIndex', onPodConditions: [{ type: 'A', status: 'True' }] }],
  },
}
const action = 'spec.podFailurePolicy.rules[0].action'
const restart = 'spec.template.spec.restartPolicy'

checkBoundaries<Loose, string[]>(
  (release, spec) => {
    const job = jobOf({ selector: { matchLabels: { app: 'web' } }, manualSelector: true, ...spec })
    return linesOf(jobRules(release).validateCreate?.(job, contextOf({ release })) ?? [])
  },
  [
    [
      'a job without a restart policy',
      [19, 20],
      { template: templateOf() },
      [`${restart}: Unsupported value: "Always": supported values: "OnFailure", "Never"`],
      [`${restart}: Required value: valid values: "OnFailure", "Never"`],
    ],
    [
      'a failed pod fails its index',
      [27, 28],
      failIndex,
      [`${action}: Unsupported value: "FailIndex": supported values: "Count", "FailJob", "Ignore"`],
      [`${action}: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`],
    ],
  ],
)

const manyIndexes =
  'spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail'
const notLabel =
  'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]'
const many = { completionMode: 'Indexed', completions: 100_001, parallelism: 10_001 }

checkBoundaries<KubeObject, string[]>(
  (release, job) => jobRules(release).warningsOnCreate?.(job, contextOf({ release })) ?? [],
  [
    ['an indexed job of very many pods', [27, 28], jobOf(many), [], [manyIndexes]],
    ['a job whose name is not a DNS label', [26, 27], jobOf({}, 'a.b'), [], [notLabel]],
  ],
)

const withDisk = templateOf({ volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'x' } }] })
const diskError =
  'spec.template.spec.volumes[0].gcePersistentDisk.readOnly: Invalid value: false: must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only'
const setSpec = (changes: Loose): Loose => ({
  replicas: 2,
  selector: { matchLabels: { app: 'web' } },
  template: templateOf(),
  ...changes,
})

interface Change {
  readonly resource: string
  readonly old: Loose
  readonly next: Loose
}
const updateIn = (release: number, { resource, old, next }: Change): string[] => {
  const { validateUpdate } = behaviourOf(resource, release)
  const context = contextOf({ release })
  return linesOf(
    validateUpdate?.(objectOf('', setSpec(next)), objectOf('', setSpec(old)), context) ?? [],
  )
}
const replicaSets = 'apps/replicasets'
const daemonSets = 'apps/daemonsets'
const negative = 'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0'
const negativeSpeed = { minReadySeconds: -1, updateStrategy: { type: 'OnDelete' } }

checkBoundaries<Change, string[]>(updateIn, [
  [
    'a template keeps its disk of GCE',
    [27, 28],
    { resource: replicaSets, old: { template: withDisk }, next: { template: withDisk } },
    [diskError, diskError],
    [],
  ],
  [
    'a template gets a disk of GCE',
    [30, 31],
    { resource: replicaSets, old: {}, next: { template: withDisk } },
    [diskError, diskError],
    [],
  ],
  [
    'the specification of a replica set is checked once',
    [33, 34],
    { resource: replicaSets, old: {}, next: negativeSpeed },
    [negative, negative],
    [negative],
  ],
  [
    'the specification of a daemon set is checked once',
    [33, 34],
    { resource: daemonSets, old: {}, next: negativeSpeed },
    [negative, negative],
    [negative],
  ],
])
