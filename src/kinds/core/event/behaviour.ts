/**
 * Event, with the core version as the hub. Events expire after an hour or --event-ttl. Events
 * written through events.k8s.io/v1 have stricter rules.
 */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import {
  dns1123Subdomain,
  longerThan,
  nameIsDnsSubdomain,
  nameIsPathSegment,
  qualifiedName,
} from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { each, sameJson } from '#kinds/all-kinds/checks.ts'
import { checkEventKept } from './event-changes.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

const comparesWithOld = change('an update of an event compares it with the old one', { since: 24 })
const namesComponent = change('errors of events name reportingComponent as v1 does', { since: 25 })
const checksNamespace = change('the namespace of an event is checked again', { until: 36 })
const wordLengthMax = 128
const noteLengthMax = 1024

const isStrict = (context: Context): boolean =>
  context.requestApiVersion !== undefined &&
  context.requestApiVersion !== 'v1' &&
  context.requestApiVersion !== 'events.k8s.io/v1beta1'

const tooMany = (field: string, max: number): FieldError =>
  invalid(field, '', `can have at most ${max} characters`)

/** The checks of every event, in all versions. */
function check(event: KubeObject, context: Context): FieldError[] {
  const namespace = event.metadata.namespace ?? ''
  const errors = event.eventTime
    ? checkNewStyle(event, namespace, controllerField(context))
    : checkOldStyle(event, namespace)
  if (!releaseOf(context.release).has(checksNamespace)) return errors
  return [...errors, ...each(FieldPath.of('namespace'), namespace, dns1123Subdomain(namespace))]
}

/** The name of the reporting controller field in the version of the request. */
const controllerField = ({ release, requestApiVersion }: Context): string =>
  releaseOf(release).has(namesComponent) && requestApiVersion === 'v1'
    ? 'reportingComponent'
    : 'reportingController'

const mismatch = (event: KubeObject): FieldError =>
  invalid(
    'involvedObject.namespace',
    event.involvedObject?.namespace ?? '',
    'does not match event.namespace',
  )

function checkOldStyle(event: KubeObject, namespace: string): FieldError[] {
  const about: string = event.involvedObject?.namespace ?? ''
  const fits = about === '' ? namespace === '' || namespace === 'default' : namespace === about
  return fits ? [] : [mismatch(event)]
}

function checkNewStyle(event: KubeObject, namespace: string, controller: string): FieldError[] {
  const errors: FieldError[] = []
  const about: string = event.involvedObject?.namespace ?? ''
  if (about === '' && namespace !== 'default' && namespace !== 'kube-system') {
    errors.push(mismatch(event))
  }
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '' } = event
  if (reportingComponent === '') errors.push(required(controller))
  const path = FieldPath.of(controller)
  errors.push(...each(path, reportingComponent, qualifiedName(reportingComponent)))
  for (const [field, value] of Object.entries({ reportingInstance, action, reason })) {
    if (value === '') errors.push(required(field))
    if (longerThan(value, wordLengthMax)) errors.push(tooMany(field, wordLengthMax))
  }
  if (longerThan(event.message ?? '', noteLengthMax)) errors.push(tooMany('message', noteLengthMax))
  return errors
}

function checkSeries(event: KubeObject): FieldError[] {
  if (!event.series) return []
  const errors: FieldError[] = []
  if ((event.series.count ?? 0) < 2) {
    errors.push(invalid('series.count', '', 'should be at least 2'))
  }
  if (!event.series.lastObservedTime) errors.push(required('series.lastObservedTime'))
  return errors
}

/** Older releases compare a changed event with itself, so that they reject no change. */
function checkStrictUpdate(next: KubeObject, old: KubeObject, release: number): FieldError[] {
  if (!releaseOf(release).has(comparesWithOld)) {
    return checkMetadataUpdate(next, { ...old, metadata: next.metadata })
  }
  const isSeriesKept = sameJson(next.series, old.series)
  return [
    ...checkMetadataUpdate(next, old),
    ...(isSeriesKept ? [] : checkSeries(next)),
    ...checkEventKept(next, old),
  ]
}

/**
 * Additional checks of new events in events.k8s.io/v1. The deprecated fields of the core version
 * must be empty.
 */
function checkStrict(event: KubeObject): FieldError[] {
  const errors = [...checkMetadata(event, true, nameIsDnsSubdomain), ...checkSeries(event)]
  if (!event.eventTime) errors.push(required('eventTime'))
  const type: string = event.type ?? ''
  if (type !== 'Normal' && type !== 'Warning') {
    errors.push(invalid('type', '', `has invalid value: ${type}`))
  }
  const { firstTimestamp, lastTimestamp, count, source = {} } = event
  const old = { firstTimestamp, lastTimestamp, count, source: source.component || source.host }
  for (const [field, value] of Object.entries(old)) {
    if (value) errors.push(invalid(field, '', 'needs to be unset'))
  }
  return errors
}

export const eventBehaviour: Behaviour = {
  nameRule: nameIsPathSegment,
  metadataLast: true,
  createOnUpdate: true,
  validateCreate: (object, context) => [
    ...check(object, context),
    ...(isStrict(context) ? checkStrict(object) : []),
  ],
  validateUpdate: (next, old, context) => [
    ...check(next, context),
    ...(isStrict(context) ? checkStrictUpdate(next, old, context.release) : []),
  ],
  expires: true,
  selectableFields(object) {
    const about = object.involvedObject ?? {}
    const aboutFields = [
      'kind',
      'namespace',
      'name',
      'uid',
      'apiVersion',
      'resourceVersion',
      'fieldPath',
    ].flatMap((field) => [
      [`involvedObject.${field}`, about[field] ?? ''],
      [`regarding.${field}`, about[field] ?? ''],
    ])
    const reporter: string = object.reportingComponent ?? ''
    return {
      ...Object.fromEntries(aboutFields),
      reason: object.reason ?? '',
      reportingComponent: reporter,
      reportingController: reporter,
      source: object.source?.component || reporter,
      type: object.type ?? '',
    }
  },
}
