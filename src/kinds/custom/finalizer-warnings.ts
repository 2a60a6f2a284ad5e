/** Warnings for new finalizers of custom objects whose names may conflict with those of others. */
import { goQuote } from '#api/go-syntax.ts'
import { qualifiedName } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'

const warnsOfFinalizers = change('custom objects with unqualified finalizers get warnings', {
  since: 29,
})
const wantsPath = change('warnings want a path in finalizers that are a domain', { since: 32 })

const standard: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])
const conflicts = 'to avoid accidental conflicts with other finalizer writers'

export function finalizerWarnings(
  { metadata }: KubeObject,
  old: KubeObject | undefined,
  release: Release,
): string[] {
  if (!release.has(warnsOfFinalizers)) return []
  const known = new Set<string>(old?.metadata.finalizers)
  const added = new Set<string>(metadata.finalizers).difference(known)
  return [...added].sort().flatMap((name) => {
    const at = `metadata.finalizers: ${goQuote(name)}:`
    const problems = qualifiedName(name).map((problem) => `${at} ${problem}`)
    if (name.includes('/') || standard.has(name)) return problems
    const path = release.has(wantsPath) && name.includes('.') ? ' including a path (/)' : ''
    return [...problems, `${at} prefer a domain-qualified finalizer name${path} ${conflicts}`]
  })
}
