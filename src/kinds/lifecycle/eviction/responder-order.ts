/**
 * The order in which responders act: the highest priority first, and names of equal priority by
 * domain. Domains compare from the top label down, so `b.example.com` is after `example.com`.
 */
import type { Loose } from '#api/object-meta.ts'

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function partsOf(name: string): { labels: string[]; key: string } {
  const slash = name.indexOf('/')
  const domain = slash < 0 ? name : name.slice(0, slash)
  return { labels: domain.split('.').reverse(), key: slash < 0 ? '' : name.slice(slash + 1) }
}

function compareNames(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  for (const [i, label] of left.labels.entries()) {
    const other = right.labels[i]
    if (other === undefined) return 1
    if (label !== other) return compare(label, other)
  }
  return right.labels.length > left.labels.length ? -1 : compare(left.key, right.key)
}

/** A responder without a priority is last. */
function compareResponders(a: Loose, b: Loose): number {
  const [left, right]: (number | undefined)[] = [a.priority, b.priority]
  if (left === right) return compareNames(a.name ?? '', b.name ?? '')
  if (left === undefined) return 1
  return right === undefined ? -1 : right - left
}

export const inResponderOrder = (responders: readonly Loose[]): Loose[] =>
  [...responders].sort(compareResponders)
