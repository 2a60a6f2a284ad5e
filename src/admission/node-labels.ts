/** The labels that a kubelet may set on its own node, and a check of the changed labels. */
import { byCodePoint } from '#api/go-syntax.ts'
import { ownValue } from '#kinds/own-key.ts'

const own = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
])

const within = (domain: string, wanted: string) =>
  domain === wanted || domain.endsWith(`.${wanted}`)

function isForbidden(label: string): boolean {
  const slash = label.indexOf('/')
  const domain = slash < 0 ? '' : label.slice(0, slash)
  if (within(domain, 'node-restriction.kubernetes.io')) return true
  if (!within(domain, 'kubernetes.io') && !within(domain, 'k8s.io')) return false
  return (
    !own.has(label) &&
    !within(domain, 'kubelet.kubernetes.io') &&
    !within(domain, 'node.kubernetes.io')
  )
}

type Labels = Record<string, string> | undefined

/** The forbidden labels that changed, joined for a message. Empty if there are none. */
export function forbiddenLabels(next: Labels, old: Labels): string {
  const keys = new Set([...Object.keys(next ?? {}), ...Object.keys(old ?? {})])
  const changed = [...keys].filter((key) => ownValue(next, key) !== ownValue(old, key))
  return changed.filter(isForbidden).sort(byCodePoint).join(', ')
}
