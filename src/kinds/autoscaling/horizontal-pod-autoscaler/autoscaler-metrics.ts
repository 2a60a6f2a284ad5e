/**
 * Converts autoscaler metrics between two shapes. autoscaling/v2beta1 has flat fields;
 * autoscaling/v1 keeps the same shape in annotations. v2beta2 and later have nested structures for
 * the target and the current value. Fields are in Go's order, because it is visible in annotations.
 */
import type { Loose } from '#api/object-meta.ts'
import { rememberText, textWritten } from '#api/written-text.ts'

const types: readonly (readonly [string, string])[] = [
  ['object', 'Object'],
  ['pods', 'Pods'],
  ['resource', 'Resource'],
  ['containerResource', 'ContainerResource'],
  ['external', 'External'],
]

/** The fields without absent and null ones. */
const compact = (fields: Loose): Loose =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  )

const reference = ({ kind, name, apiVersion }: Loose = {}): Loose =>
  compact({ kind: kind ?? '', name: name ?? '', apiVersion: apiVersion || undefined })

const identifier = (name: string | undefined, selector: Loose | undefined): Loose =>
  compact({ name: name ?? '', selector })

const zero = '0'

const olderSource: Readonly<Record<string, (source: Loose) => Loose>> = {
  object: ({ describedObject, metric = {}, target = {} }) => ({
    target: reference(describedObject),
    metricName: metric.name ?? '',
    targetValue: target.value ?? zero,
    selector: metric.selector,
    averageValue: target.averageValue,
  }),
  pods: ({ metric = {}, target = {} }) => ({
    metricName: metric.name ?? '',
    targetAverageValue: target.averageValue ?? zero,
    selector: metric.selector,
  }),
  resource: ({ name, target = {} }) => ({
    name: name ?? '',
    targetAverageUtilization: target.averageUtilization,
    targetAverageValue: target.averageValue,
  }),
  containerResource: ({ name, target = {}, container }) => ({
    name: name ?? '',
    targetAverageUtilization: target.averageUtilization,
    targetAverageValue: target.averageValue,
    container: container ?? '',
  }),
  external: ({ metric = {}, target = {} }) => ({
    metricName: metric.name ?? '',
    metricSelector: metric.selector,
    targetValue: target.value,
    targetAverageValue: target.averageValue,
  }),
}

const usage = ({ targetAverageUtilization: share, targetAverageValue: amount }: Loose): Loose =>
  compact({
    type: share === undefined ? 'AverageValue' : 'Utilization',
    averageValue: amount,
    averageUtilization: share,
  })

const newerSource: Readonly<Record<string, (source: Loose) => Loose>> = {
  object: ({ target, metricName, targetValue, selector, averageValue }) => ({
    describedObject: reference(target),
    target: compact({
      type: averageValue === undefined ? 'Value' : 'AverageValue',
      value: targetValue ?? zero,
      averageValue,
    }),
    metric: identifier(metricName, selector),
  }),
  pods: ({ metricName, targetAverageValue, selector }) => ({
    metric: identifier(metricName, selector),
    target: { type: 'AverageValue', averageValue: targetAverageValue ?? zero },
  }),
  resource: (source) => ({ name: source.name ?? '', target: usage(source) }),
  containerResource: (source) => ({
    name: source.name ?? '',
    target: usage(source),
    container: source.container ?? '',
  }),
  external: ({ metricName, metricSelector, targetValue, targetAverageValue }) => ({
    metric: identifier(metricName, metricSelector),
    target: compact({
      type: targetValue === undefined ? 'AverageValue' : 'Value',
      value: targetValue,
      averageValue: targetAverageValue,
    }),
  }),
}

const olderStatus: Readonly<Record<string, (status: Loose) => Loose>> = {
  object: ({ describedObject, metric = {}, current = {} }) => ({
    target: reference(describedObject),
    metricName: metric.name ?? '',
    currentValue: current.value ?? zero,
    selector: metric.selector,
    averageValue: current.averageValue,
  }),
  pods: ({ metric = {}, current = {} }) => ({
    metricName: metric.name ?? '',
    currentAverageValue: current.averageValue ?? zero,
    selector: metric.selector,
  }),
  resource: ({ name, current = {} }) => ({
    name: name ?? '',
    currentAverageUtilization: current.averageUtilization,
    currentAverageValue: current.averageValue ?? zero,
  }),
  containerResource: ({ name, current = {}, container }) => ({
    name: name ?? '',
    currentAverageUtilization: current.averageUtilization,
    currentAverageValue: current.averageValue ?? zero,
    container: container ?? '',
  }),
  external: ({ metric = {}, current = {} }) => ({
    metricName: metric.name ?? '',
    metricSelector: metric.selector,
    currentValue: current.value ?? zero,
    currentAverageValue: current.averageValue,
  }),
}

const used = ({ currentAverageUtilization: share, currentAverageValue: amount }: Loose): Loose =>
  compact({ averageValue: amount ?? zero, averageUtilization: share })

const newerStatus: Readonly<Record<string, (status: Loose) => Loose>> = {
  object: ({ target, metricName, currentValue, selector, averageValue }) => ({
    metric: identifier(metricName, selector),
    current: compact({ value: currentValue ?? zero, averageValue }),
    describedObject: reference(target),
  }),
  pods: ({ metricName, currentAverageValue, selector }) => ({
    metric: identifier(metricName, selector),
    current: { averageValue: currentAverageValue ?? zero },
  }),
  resource: (status) => ({ name: status.name ?? '', current: used(status) }),
  containerResource: (status) => ({
    name: status.name ?? '',
    current: used(status),
    container: status.container ?? '',
  }),
  external: ({ metricName, metricSelector, currentValue, currentAverageValue }) => ({
    metric: identifier(metricName, metricSelector),
    current: compact({ value: currentValue ?? zero, averageValue: currentAverageValue }),
  }),
}

const converted = (moves: Readonly<Record<string, (part: Loose) => Loose>>) => {
  return (metric: Loose): Loose => {
    const out: Loose = { type: metric.type ?? '' }
    for (const [field] of types) {
      const move = moves[field]
      if (metric[field] && move) out[field] = compact(move(metric[field]))
    }
    return out
  }
}

/** Maps the quantity fields of the older shape to those of the newer target. */
const amounts: Readonly<Record<string, readonly (readonly [older: string, newer: string])[]>> = {
  object: [
    ['targetValue', 'value'],
    ['averageValue', 'averageValue'],
  ],
  pods: [['targetAverageValue', 'averageValue']],
  resource: [['targetAverageValue', 'averageValue']],
  containerResource: [['targetAverageValue', 'averageValue']],
  external: [
    ['targetValue', 'value'],
    ['targetAverageValue', 'averageValue'],
  ],
}

/**
 * Converts a metric to the newer shape. Messages show quantities with the text that the client
 * wrote.
 */
function rememberingMetric(metric: Loose): Loose {
  const out = newerShape(metric)
  for (const [field] of types) {
    for (const [older, newer] of out[field] ? (amounts[field] ?? []) : []) {
      const text = textWritten(metric[field], older)
      if (text !== undefined) rememberText(out[field].target, newer, text)
    }
  }
  return out
}

const newerShape: (metric: Loose) => Loose = converted(newerSource)
export const olderMetric: (metric: Loose) => Loose = converted(olderSource)
export const newerMetric: (metric: Loose) => Loose = rememberingMetric
export const olderMetricStatus: (status: Loose) => Loose = converted(olderStatus)
export const newerMetricStatus: (status: Loose) => Loose = converted(newerStatus)
