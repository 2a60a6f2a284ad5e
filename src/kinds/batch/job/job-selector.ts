/**
 * The selector of a job and the labels of its pods: kube-apiserver makes both, unless the client
 * selects manually.
 */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goStringMap } from '#api/go-syntax.ts'
import { matchesLabels } from '#api/label-selector.ts'
import { labelValue } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { goLabelSelector, trySelector } from '#kinds/workloads/selectors.ts'

const labelsHaveDomains = change('the labels and the selector of a job have a domain', {
  since: 27,
})

const labelsPath = FieldPath.of('spec', 'template', 'metadata', 'labels')

interface JobLabels {
  readonly uid: string
  readonly name: string
}

const plainLabels: JobLabels = { uid: 'controller-uid', name: 'job-name' }
const domainLabels: JobLabels = {
  uid: 'batch.kubernetes.io/controller-uid',
  name: 'batch.kubernetes.io/job-name',
}

/**
 * Adds the job's uid to the pod labels and the selector, unless they are set. Changes the
 * template's labels in place, because the job may share this map.
 */
export function generateSelector(job: KubeObject, release: Release): void {
  const { name = '', uid = '' } = job.metadata
  const { spec } = job
  const hasDomain = release.has(labelsHaveDomains)
  spec.template.metadata ??= {}
  spec.template.metadata.labels ??= {}
  addSorted(
    spec.template.metadata.labels,
    (hasDomain ? [plainLabels, domainLabels] : [plainLabels]).flatMap((keys) => [
      [keys.name, name],
      [keys.uid, uid],
    ]),
  )
  // Only now does every template have some.
  shareLabels(job)
  spec.selector ??= {}
  spec.selector.matchLabels ??= {}
  addSorted(spec.selector.matchLabels, [[(hasDomain ? domainLabels : plainLabels).uid, uid]])
}

/**
 * A job without labels has its template's; one map where the template's were written, if only
 * empty.
 */
export function shareLabels({ metadata, spec }: KubeObject): void {
  const { labels } = spec.template?.metadata ?? {}
  if (!labels || Object.keys(metadata.labels ?? {}).length > 0) return
  const isShared = wasWrittenEmpty(spec.template.metadata, 'labels')
  metadata.labels = isShared ? labels : { ...labels }
}

/**
 * Validates labels that the job shares with its template. Preparation has added the job's name,
 * which may be too long for a label.
 */
export function checkSharedLabels(job: KubeObject, release: Release): FieldError[] {
  const { labels } = job.metadata
  if (labels === undefined || labels !== job.spec.template.metadata?.labels) return []
  const keys = release.has(labelsHaveDomains) ? [domainLabels, plainLabels] : [plainLabels]
  return keys.flatMap((key) => {
    const value = labels[key.name] ?? ''
    return each(FieldPath.of('metadata', 'labels'), value, labelValue(value))
  })
}

/**
 * Adds missing entries and keeps keys sorted. Users choose the keys, so entries are defined instead
 * of assigned.
 */
export function addSorted(map: Record<string, string>, added: readonly string[][]): void {
  const entries = new Map([...(added as [string, string][]), ...Object.entries(map)])
  for (const key of Object.keys(map)) delete map[key]
  for (const [key, value] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
    Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true })
  }
}

/** `old`: a job that an older release labelled may go on without the labels that have a domain. */
export function checkGeneratedSelector(
  job: KubeObject,
  release: Release,
  old?: KubeObject,
): FieldError[] {
  const { spec } = job
  if (spec.manualSelector === true || !spec.selector) return []
  const { name = '', uid = '' } = job.metadata
  const errors: FieldError[] = []
  if (uid === '') errors.push(required(FieldPath.of('metadata', 'uid')))
  const labels: Record<string, string> | undefined = spec.template?.metadata?.labels
  const expected = expectedLabels(release, old).flatMap((keys): [string, string][] => [
    [keys.uid, uid],
    [keys.name, name],
  ])
  for (const [key, value] of expected) {
    const at = labelsPath.key(key)
    if (labels === undefined || !Object.hasOwn(labels, key)) {
      errors.push(required(at, `must be '${value}'`))
    } else if (labels[key] !== value) {
      errors.push(invalid(at, asGo(goStringMap(labels)), `must be '${value}'`))
    }
  }
  const selector = trySelector(spec.selector)
  if (selector !== undefined && !matchesLabels(selector, Object.fromEntries(expected))) {
    const detail = '`selector` not auto-generated'
    const shown = goLabelSelector(spec.selector)
    errors.push(invalid(FieldPath.of('spec', 'selector'), shown, detail))
  }
  return errors
}

function expectedLabels(release: Release, old: KubeObject | undefined): JobLabels[] {
  if (!release.has(labelsHaveDomains)) return [plainLabels]
  const before: Record<string, string> = old?.spec.template?.metadata?.labels ?? {}
  const hadDomain = Object.values(domainLabels).every((key) => Object.hasOwn(before, key))
  return old === undefined || hadDomain ? [plainLabels, domainLabels] : [plainLabels]
}
