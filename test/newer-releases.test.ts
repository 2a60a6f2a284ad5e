/**
 * One data directory, walked from 1.22 to 1.37 in steps. Objects that a release stored in a beta
 * version are read in the versions that later releases serve.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startServer } from './running-server.ts'

/** A release of each span in which the same versions are served. */
const steps = [22, 24, 25, 28, 31, 33, 37]
/** Betas that are served only on request. */
const requested: Readonly<Record<number, string>> = {
  31: 'resource.k8s.io/v1alpha3=true',
  33: 'resource.k8s.io/v1alpha3=true,resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true',
}

interface Row {
  readonly group: string
  readonly plural: string
  readonly namespaced?: true
  readonly name: string
  /** The release that stores the object, and the version that it is written in. */
  readonly from: number
  readonly written: string
  /** Versions that serve the object in a release. */
  readonly served: Readonly<Record<number, readonly string[]>>
  readonly body: object
  /** What the newest version shows, among the rest. */
  readonly shown: object
}

const pods = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'OnFailure' } }
const scaled = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
const usage = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } }
const metrics = [{ type: 'Resource', resource: usage }]
const flow = 'flowcontrol.apiserver.k8s.io'
const flows = { 22: ['v1beta1'], 24: ['v1beta1', 'v1beta2'], 25: ['v1beta1', 'v1beta2'] }
const laterFlows = { 28: ['v1beta2', 'v1beta3'], 31: ['v1beta3', 'v1'], 33: ['v1'], 37: ['v1'] }
const limited = { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } }
const level = { spec: limited }
const schema = { spec: { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 77 } }
const devices = { 31: ['v1alpha3'], 33: ['v1alpha3', 'v1beta1', 'v1beta2'], 37: ['v1'] }
/** The releases and the versions in which they write objects about devices. */
const deviceWriters: readonly [from: number, written: string][] = [
  [31, 'v1alpha3'],
  [33, 'v1beta1'],
  [33, 'v1beta2'],
]
const taintOf = { deviceSelector: { driver: 'd.e' }, taint: { key: 'k', effect: 'NoSchedule' } }
const isFlat = (version: string) => version !== 'v1beta2'
const exactly = { deviceClassName: 'c', allocationMode: 'ExactCount', count: 2 }
const claimOf = (version: string) => {
  const request = { deviceClassName: 'c', count: 2 }
  const fields = isFlat(version) ? request : { exactly: request }
  return { devices: { requests: [{ name: 'r', ...fields }] } }
}
const nestedClaim = { devices: { requests: [{ name: 'r', exactly }] } }
const pool = { name: 'p', generation: 1, resourceSliceCount: 1 }
const ofNode = { driver: 'd.example.com', pool, nodeName: 'n' }
const attributes = { model: { string: 'm' } }
const sliceOf = (version: string) => {
  const capacity = { memory: version === 'v1alpha3' ? '1Gi' : { value: '1Gi' } }
  const fields = isFlat(version) ? { basic: { attributes, capacity } } : { attributes, capacity }
  return { ...ofNode, devices: [{ name: 'a', ...fields }] }
}
const plainSlice = {
  ...ofNode,
  devices: [{ name: 'a', attributes, capacity: { memory: { value: '1Gi' } } }],
}

const rows: readonly Row[] = [
  {
    group: 'batch',
    plural: 'cronjobs',
    namespaced: true,
    name: 'walked',
    from: 22,
    written: 'v1beta1',
    served: { 22: ['v1beta1', 'v1'], 24: ['v1beta1', 'v1'], 25: ['v1'], 28: ['v1'], 37: ['v1'] },
    body: { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: pods } } } },
    // 1.22 stored a null time in the metadata of both templates.
    shown: { spec: { jobTemplate: { metadata: {}, spec: { template: { metadata: {} } } } } },
  },
  {
    group: 'autoscaling',
    plural: 'horizontalpodautoscalers',
    namespaced: true,
    name: 'walked',
    from: 22,
    written: 'v2beta2',
    served: {
      22: ['v2beta2', 'v1'],
      24: ['v2beta2', 'v2'],
      25: ['v2beta2', 'v2'],
      28: ['v2'],
      37: ['v2'],
    },
    body: { spec: { scaleTargetRef: scaled, maxReplicas: 3, metrics } },
    shown: { spec: { scaleTargetRef: scaled, minReplicas: 1, maxReplicas: 3, metrics } },
  },
  ...[22, 24, 28, 31].map(
    (from, i): Row => ({
      group: flow,
      plural: 'prioritylevelconfigurations',
      name: `walked${from}`,
      from,
      written: ['v1beta1', 'v1beta2', 'v1beta3', 'v1'][i] as string,
      served: { ...flows, ...laterFlows },
      body: level,
      shown: { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 30 } } },
    }),
  ),
  {
    group: flow,
    plural: 'flowschemas',
    name: 'walked',
    from: 22,
    written: 'v1beta1',
    served: { ...flows, ...laterFlows },
    body: schema,
    shown: schema,
  },
  {
    group: 'resource.k8s.io',
    plural: 'deviceclasses',
    name: 'walked',
    from: 33,
    written: 'v1beta1',
    served: devices,
    body: { spec: { selectors: [{ cel: { expression: 'true' } }] } },
    shown: { spec: { selectors: [{ cel: { expression: 'true' } }] } },
  },
  {
    group: 'resource.k8s.io',
    plural: 'devicetaintrules',
    name: 'walked',
    from: 33,
    written: 'v1alpha3',
    served: { 33: ['v1alpha3'], 37: ['v1'] },
    body: { spec: taintOf },
    shown: { spec: taintOf },
  },
  ...deviceWriters.flatMap(([from, written]): Row[] => {
    const row = { group: 'resource.k8s.io', name: `walked-${written}`, from, written }
    const [spec, template] = [claimOf(written), { spec: claimOf(written) }]
    return [
      {
        ...row,
        plural: 'resourceclaims',
        namespaced: true,
        served: devices,
        body: { spec },
        shown: { spec: nestedClaim },
      },
      {
        ...row,
        plural: 'resourceclaimtemplates',
        namespaced: true,
        served: devices,
        body: { spec: template },
        shown: { spec: { spec: nestedClaim } },
      },
      {
        ...row,
        plural: 'resourceslices',
        served: devices,
        body: { spec: sliceOf(written) },
        shown: { spec: plainSlice },
      },
    ]
  }),
]

const directory = mkdtempSync(join(tmpdir(), 'binnacle-newer-releases-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const pathOf = ({ group, plural, namespaced }: Row, version: string) =>
  `/apis/${group}/${version}${namespaced ? '/namespaces/default' : ''}/${plural}`

/** The uid of each object, as it was when it was written. */
const uids = new Map<Row, string>()

for (const release of steps)
  test(`1.${release}: what was stored in beta versions is there`, async () => {
    const flags = ['--storage-backend=sqlite', '--controllers=-*']
    const betas = requested[release]
    if (betas !== undefined) flags.push(`--runtime-config=${betas}`)
    const server = await startServer([`--emulated-version=1.${release}`, ...flags], directory)
    try {
      for (const row of rows.filter(({ from }) => from === release)) {
        const metadata = { name: row.name }
        const made = await server.ask('POST', pathOf(row, row.written), { metadata, ...row.body })
        assert.equal(made.status, 201, `${row.plural} ${row.written}: ${made.text}`)
        uids.set(row, made.body.metadata.uid)
      }
      for (const row of rows.filter(({ from }) => from <= release)) {
        for (const version of row.served[release] ?? []) {
          const read = await server.ask('GET', `${pathOf(row, version)}/${row.name}`)
          assert.equal(read.status, 200, `${row.plural} ${version}: ${read.text}`)
          assert.equal(read.body.apiVersion, `${row.group}/${version}`)
          assert.equal(read.body.metadata.uid, uids.get(row))
          if (release === steps.at(-1)) assertShown(read.body, row.shown, row.name)
        }
        const gone = await server.ask('GET', `${pathOf(row, row.written)}/${row.name}`)
        const isServed = row.served[release]?.includes(row.written)
        if (isServed === false) assert.equal(gone.status, 404, `${row.plural} ${row.written}`)
      }
    } finally {
      await server.stop()
    }
  })

/** Every field that is expected has its value; an empty structure has no fields. */
function assertShown(found: unknown, wanted: unknown, at: string): void {
  const isStruct = typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted)
  if (!isStruct || Object.keys(wanted).length === 0) {
    assert.deepEqual(found, wanted, at)
    return
  }
  for (const [field, value] of Object.entries(wanted))
    assertShown((found as Record<string, unknown>)[field], value, `${at}.${field}`)
}
