import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { jobValidation, podGroupProtection, podGroupWorkloadExists } from './pod-group-plugins.ts'
import { catalogOf, kindOf, outcome, requestOf } from './requests.suite.ts'

const newest = catalogOf(36)
const groupKind = kindOf('scheduling.k8s.io/v1alpha2', 'podgroups', newest)
const jobKind = kindOf('batch/v1', 'jobs', newest)
const protection = 'scheduling.k8s.io/podgroup-protection'

for (const [before, after] of [
  [undefined, [protection]],
  [['x'], ['x', protection]],
  [[protection], [protection]],
] as const)
  test(`a new group with the finalizers ${before} gets ${after}`, async () => {
    const request = requestOf('CREATE', groupKind, { metadata: { name: 'g', finalizers: before } })
    assert.equal(await outcome(podGroupProtection, request, new MemoryReader()), 'admitted')
    assert.deepEqual(request.object?.metadata.finalizers, after)
  })

const reader = new MemoryReader()
const spec = { podGroupTemplates: [{ name: 't' }] }
const of = 'scheduling.k8s.io'
const named = (name: string, more: Loose = {}) => ({ metadata: { name, namespace: 'ns', ...more } })
reader.put(of, 'workloads', { ...named('w'), spec })
reader.put(of, 'workloads', { ...named('leaving', { deletionTimestamp: 'now' }), spec })
const gang = { schedulingPolicy: { gang: {} } }
const ownerReferences = [{ controller: true, uid: 'job-uid' }]
reader.put(of, 'podgroups', { ...named('gang', { ownerReferences }), spec: gang })
reader.put(of, 'podgroups', { ...named('basic'), spec: { schedulingPolicy: { basic: {} } } })

const group = (workloadName: string, podGroupTemplateName: string) =>
  requestOf('CREATE', groupKind, {
    metadata: { name: 'g' },
    spec: { podGroupTemplateRef: { workload: { workloadName, podGroupTemplateName } } },
  })
const job = (parallelism: number, podGroupName?: string, uid = 'other') => ({
  metadata: { name: 'j', namespace: 'ns', uid },
  spec: {
    parallelism,
    template: { spec: podGroupName && { schedulingGroup: { podGroupName } } },
  },
})
const scaled = (from: number, podGroupName?: string, uid?: string) =>
  requestOf('UPDATE', jobKind, job(2, podGroupName, uid), {
    old: job(from, podGroupName, uid) as never,
  })
const no = '403 podgroups.scheduling.k8s.io "g" is forbidden: PodGroup rejected: '
const fixed =
  '403 jobs.batch "j" is forbidden: cannot change parallelism for a Job referencing gang-scheduled PodGroup "gang"'

const cases: [string, AdmissionPlugin, AdmissionRequest, string][] = [
  ['a template that is there', podGroupWorkloadExists, group('w', 't'), 'admitted'],
  [
    'no such template',
    podGroupWorkloadExists,
    group('w', 'x'),
    `${no}PodGroupTemplate "x" not found in Workload "w"`,
  ],
  ['no such workload', podGroupWorkloadExists, group('x', 't'), `${no}Workload "x" not found`],
  [
    'a workload that is deleted',
    podGroupWorkloadExists,
    group('leaving', 't'),
    `${no}Workload "leaving" is being deleted`,
  ],
  ['a job of a gang', jobValidation, scaled(1, 'gang'), fixed],
  ['a job that owns a gang', jobValidation, scaled(1, undefined, 'job-uid'), fixed],
  ['a job of no gang', jobValidation, scaled(1, 'basic'), 'admitted'],
  ['a job alone', jobValidation, scaled(1), 'admitted'],
  ['the same parallelism', jobValidation, scaled(2, 'gang'), 'admitted'],
]
for (const [what, plugin, request, expected] of cases)
  test(`${plugin.name}, ${what}: ${expected}`, async () =>
    assert.equal(await outcome(plugin, request, reader), expected))
