import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { contextFor, inDefault, linesOf } from '#kinds/all-kinds/behaviour.suite.ts'
import { eventBehaviour } from './behaviour.ts'

const event = (more: Loose = {}) =>
  inDefault({
    eventTime: '2021-01-01T00:00:00.000000Z',
    involvedObject: { namespace: 'default', name: 'x' },
    reason: 'R',
    action: 'A',
    reportingComponent: 'example.com/c',
    reportingInstance: 'i',
    ...more,
  })
const v1 = 'events.k8s.io/v1'
const changes = (more: Loose, release: number, requestApiVersion = v1) =>
  linesOf(
    eventBehaviour.validateUpdate?.(
      event(more),
      event(),
      contextFor({ release, requestApiVersion }),
    ) ?? [],
  )

test('since 1.24 only the series of an event may change', () => {
  assert.deepEqual(changes({ reason: 'S' }, 23), [])
  assert.deepEqual(changes({ reason: 'S' }, 24), [
    'reason: Invalid value: "S": field is immutable',
    'reason: Invalid value: "S": field is immutable',
  ])
  assert.deepEqual(changes({ reason: 'S' }, 24, 'v1'), [])
  assert.deepEqual(changes({ involvedObject: { namespace: 'default', name: 'y' } }, 37), [
    'involvedObject: Invalid value: core.ObjectReference{Kind:"", Namespace:"default", Name:"y", UID:"", APIVersion:"", ResourceVersion:"", FieldPath:""}: field is immutable',
  ])
  assert.deepEqual(changes({ series: { count: 1 } }, 37), [
    'series.count: Invalid value: "": should be at least 2',
    'series.lastObservedTime: Required value',
  ])
  assert.deepEqual(changes({ eventTime: '2021-01-01T00:00:00.0000001Z' }, 37), [])
})

test('errors name the controller as the requested version does', () => {
  const named = (release: number, version: string) =>
    changes({ reportingComponent: '' }, release, version).some((line) =>
      line.startsWith('reportingComponent: Required'),
    )
  assert.deepEqual([named(24, 'v1'), named(25, 'v1'), named(25, v1)], [false, true, false])
})

test('the namespace is checked again up to 1.36', () => {
  const odd = event()
  odd.metadata.namespace = 'A'
  const fields = (release: number) =>
    (eventBehaviour.validateCreate?.(odd, contextFor({ release })) ?? []).map(({ field }) => field)
  assert.deepEqual(
    [fields(36).includes('namespace'), fields(37).includes('namespace')],
    [true, false],
  )
})
