import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCreate, contextFor, inDefault } from '#kinds/all-kinds/behaviour.suite.ts'
import { eventBehaviour } from './behaviour.ts'

const core = contextFor({ requestApiVersion: 'v1' })
const beta = contextFor({ requestApiVersion: 'events.k8s.io/v1beta1' })
const stable = contextFor({ requestApiVersion: 'events.k8s.io/v1' })
const about = { namespace: 'default', name: 'p' }
const eventTime = '2024-01-01T00:00:00.000000Z'
const reported = {
  eventTime,
  involvedObject: about,
  reportingComponent: 'x.io/c',
  reportingInstance: 'i',
  action: 'A',
  reason: 'R',
  type: 'Normal',
}

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

checkCreate(eventBehaviour, [
  ['an old event', inDefault({ involvedObject: about }), [], core],
  ['about the cluster, in default', inDefault({ involvedObject: { name: 'n' } }), [], core],
  [
    'elsewhere',
    inDefault({ involvedObject: { name: 'n' } }, { namespace: 'x' }),
    ['involvedObject.namespace: Invalid value: "": does not match event.namespace'],
    core,
  ],
  ['a new event', inDefault(reported), [], stable],
  [
    'the reporter must be specified',
    inDefault({ ...reported, reportingComponent: '', action: 'a'.repeat(129) }),
    [
      'reportingController: Required value',
      'reportingController: Invalid value: "": name part must be non-empty',
      "reportingController: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      'action: Invalid value: "": can have at most 128 characters',
    ],
    beta,
  ],
  [
    'the stable version takes no fields of the core one',
    inDefault({ ...reported, count: 1, type: 'Odd', series: { count: 1 } }),
    [
      'series.count: Invalid value: "": should be at least 2',
      'series.lastObservedTime: Required value',
      'type: Invalid value: "": has invalid value: Odd',
      'count: Invalid value: "": needs to be unset',
    ],
    stable,
  ],
  [
    'the stable version looks at all of the metadata',
    inDefault(reported, { name: '', generateName: 'a/b', finalizers: ['x'] }),
    [
      `metadata.generateName: Invalid value: "a/b": ${subdomain}`,
      'metadata.name: Required value: name or generateName is required',
      'metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    ],
    stable,
  ],
  [
    'the others only as of a part of a path',
    inDefault(reported, { generateName: 'a/b' }),
    [],
    beta,
  ],
])

test('errors in metadata are reported last', () => assert.equal(eventBehaviour.metadataLast, true))

test('events are selected by their object, with the field names of either group', () => {
  const fields = eventBehaviour.selectableFields?.(inDefault(reported))
  assert.equal(fields?.['involvedObject.name'], 'p')
  assert.equal(fields?.['regarding.name'], 'p')
  assert.equal(fields?.source, 'x.io/c')
  assert.equal(eventBehaviour.expires, true)
})
