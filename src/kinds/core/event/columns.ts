/** Columns of Event, on the core version. */
import type { TableColumns } from '#kinds/table-columns.ts'
import { timeSince } from '#kinds/all-kinds/age.ts'
import { column, nameColumn, wideColumn } from '#kinds/all-kinds/column.ts'

export const eventColumns: TableColumns = {
  columns: [
    column('Last Seen', 'Time since it last happened.'),
    column('Type', 'Normal or Warning.'),
    column('Reason', 'Why it happened, in a word.'),
    column('Object', 'What it is about.'),
    wideColumn('Subobject', 'Which part of that.'),
    wideColumn('Source', 'Who reported it.'),
    column('Message', 'What happened.'),
    wideColumn('First Seen', 'Time since it first happened.'),
    wideColumn('Count', 'How often it happened.'),
    { ...nameColumn, priority: 1 },
  ],
  cells: (object, now) => {
    const { firstTimestamp, lastTimestamp, eventTime, series, source = {} } = object
    const about = object.involvedObject ?? {}
    const kind = (about.kind ?? '').toLowerCase()
    const first = timeSince(firstTimestamp || eventTime, now)
    const last = lastTimestamp ? timeSince(lastTimestamp, now) : first
    const reporter = source.component || object.reportingComponent || ''
    const instance = source.host || object.reportingInstance || ''
    return [
      series ? timeSince(series.lastObservedTime, now) : last,
      object.type ?? '',
      object.reason ?? '',
      about.name ? `${kind}/${about.name}` : kind,
      about.fieldPath ?? '',
      instance === '' ? reporter : `${reporter}, ${instance}`,
      (object.message ?? '').trim(),
      first,
      series ? (series.count ?? 0) + 1 : object.count || 1,
      object.metadata.name,
    ]
  },
}

/**
 * Before 1.19 the columns ignore series and reporting controllers, and an event without a count
 * shows 0.
 */
export const eventColumnsBefore19: TableColumns = {
  ...eventColumns,
  cells(event, now) {
    const { firstTimestamp, lastTimestamp, eventTime, source } = event
    const { component = '', host = '' } = source ?? {}
    return eventColumns
      .cells(event, now)
      .with(0, timeSince(lastTimestamp || firstTimestamp || eventTime, now))
      .with(5, host === '' ? component : `${component}, ${host}`)
      .with(8, event.count ?? 0)
  },
}

/** Before 1.16 neither was the time of the event. */
export const eventColumnsBefore16: TableColumns = {
  ...eventColumns,
  cells: (event, now) =>
    eventColumnsBefore19
      .cells(event, now)
      .with(0, timeSince(event.lastTimestamp, now))
      .with(7, timeSince(event.firstTimestamp, now)),
}
