/**
 * Label selectors: parses text (`a=b,c in (d,e),!f`) or a LabelSelector object to a list of
 * requirements, and matches labels against them. Invalid text is rejected with the messages of
 * labels.Parse.
 */
import { loadLater } from '#base/load-later.ts'
import { byCodePoint, goQuote } from './go-syntax.ts'
import {
  formatRequirement,
  type LabelOperator,
  type LabelRequirement,
  type Labels,
  LabelSelectorError,
  labelRequirement,
  matchesRequirement,
} from './label-requirement.ts'
import { parseSelectorText } from './label-selector-text.ts'
import type { Loose } from './object-meta.ts'

/** All requirements must match; 'nothing' matches no labels at all. */
export type LabelSelector = readonly LabelRequirement[] | 'nothing'

export const everything: LabelSelector = []

/** Parses a `labelSelector` parameter. Throws LabelSelectorError. */
export function parseLabelSelector(text: string): LabelSelector {
  return sorted(parseSelectorText(text))
}

/**
 * Converts a LabelSelector object. An absent selector matches nothing; an empty one matches
 * everything.
 */
export function selectorOf(object: Loose | null | undefined): LabelSelector {
  if (!object) return 'nothing'
  const requirements: LabelRequirement[] = []
  const labels: Record<string, string> = object.matchLabels ?? {}
  for (const key of Object.keys(labels)) {
    requirements.push(labelRequirement(key, '=', [labels[key] as string]))
  }
  for (const expression of (object.matchExpressions ?? []) as Loose[]) {
    const operator = objectOperators.get(expression.operator)
    if (operator === undefined) {
      const shown = goQuote(expression.operator ?? '')
      throw new LabelSelectorError(() => `${shown} is not a valid pod selector operator`)
    }
    requirements.push(labelRequirement(expression.key ?? '', operator, expression.values ?? []))
  }
  return sorted(requirements)
}

const objectOperators = new Map<unknown, LabelOperator>([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
])

/**
 * Converts a plain map, as services and replication controllers have; an empty one matches
 * everything.
 */
export function selectorOfMap(labels: Labels | null | undefined): LabelSelector {
  const keys = Object.keys(labels ?? {})
  return sorted(
    keys.map((key) => ({ key, operator: '=', values: [(labels as Labels)[key] as string] })),
  )
}

const sorted = (requirements: LabelRequirement[]): LabelRequirement[] =>
  requirements.sort((a, b) => byCodePoint(a.key, b.key))

export function matchesLabels(selector: LabelSelector, labels: Labels | null | undefined): boolean {
  if (selector === 'nothing') return false
  for (const requirement of selector) if (!matchesRequirement(requirement, labels)) return false
  return true
}

/** Whether the requirement allows exactly one value of the label. */
export const isEquality = ({ operator, values }: LabelRequirement): boolean =>
  (operator === '=' || operator === '==' || operator === 'in') && values.length === 1

/** From this number of terms or values on, indexing them is faster. */
const shortMax = 8

const isLong = (selector: readonly LabelRequirement[]): boolean =>
  selector.length > shortMax || selector.some(({ values }) => values.length > shortMax)

const loadLong = loadLater<typeof import('./long-selector.ts')>(import.meta.url, './long-selector')

/**
 * Compiles a selector into a function, for matching thousands of objects. Most selectors require
 * one value of one label, which is a single comparison.
 */
export function labelMatcher(
  selector: LabelSelector,
): (labels: Labels | null | undefined) => boolean {
  if (selector === 'nothing') return () => false
  if (isLong(selector)) return loadLong().longMatcher(selector)
  const tests = selector.map((requirement) => {
    const { key, values } = requirement
    // Keys that every object inherits need an own-property check; other keys are simply read.
    if (!isEquality(requirement) || key in {})
      return (labels: Labels | null | undefined) => matchesRequirement(requirement, labels)
    const [value] = values
    return (labels: Labels | null | undefined) => labels?.[key] === value
  })
  if (tests.length === 1) return tests[0]
  return (labels) => tests.every((test) => test(labels))
}

/** Whether the selector matches every object. */
export const selectsEverything = (selector: LabelSelector): boolean =>
  selector !== 'nothing' && selector.length === 0

/** Formats a selector as Kubernetes does. */
export function formatSelector(selector: LabelSelector): string {
  return selector === 'nothing' ? '' : selector.map(formatRequirement).join(',')
}

/**
 * Formats a LabelSelector object like `kubectl get`: `<none>` if it is empty, `<error>` if it is
 * invalid.
 */
export function formatLabelSelector(object: Loose | null | undefined): string {
  try {
    return formatSelector(selectorOf(object)) || '<none>'
  } catch (error) {
    if (error instanceof LabelSelectorError) return '<error>'
    throw error
  }
}

/** Formats labels like `kubectl get`: `a=b,c=d`, sorted. */
export function formatLabels(labels: Labels | null | undefined): string {
  const pairs = Object.keys(labels ?? {}).map((key) => `${key}=${(labels as Labels)[key]}`)
  return pairs.sort(byCodePoint).join(',') || '<none>'
}
