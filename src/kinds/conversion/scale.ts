/** Scale: the betas of apps and extensions show the selector as a map too; autoscaling/v1, the hub, as text only. */
import { LabelSelectorError } from '#api/label-requirement.ts'
import { parseLabelSelector } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { setKey } from '#schema/user-key.ts'
import type { Conversion, Conversions } from './conversion.ts'

/** The labels a selector asks for by equality; nothing where it asks for more. */
function labelsOf(text: string): Record<string, string> | undefined {
  try {
    const requirements = parseLabelSelector(text)
    if (requirements === 'nothing') return undefined
    const labels: Record<string, string> = {}
    for (const { key, operator, values } of requirements) {
      if (operator !== '=' && operator !== '==') return undefined
      setKey(labels, key, values[0] as string)
    }
    return Object.keys(labels).length > 0 ? labels : undefined
  } catch (error) {
    if (error instanceof LabelSelectorError) return undefined
    throw error
  }
}

const conversion: Conversion = {
  toHub(object: KubeObject) {
    const { replicas = 0, selector, targetSelector }: Loose = object.status ?? {}
    const labels = selector as Record<string, string> | undefined
    const text =
      targetSelector ||
      Object.keys(labels ?? {})
        .sort()
        .map((key) => `${key}=${labels?.[key]}`)
        .join(',')
    object.status = text === '' ? { replicas } : { replicas, selector: text }
    return object
  },
  fromHub(object: KubeObject) {
    const { replicas = 0, selector = '' }: Loose = object.status ?? {}
    const status: Loose = { replicas }
    const labels = selector === '' ? undefined : labelsOf(selector)
    if (labels !== undefined) status.selector = labels
    if (selector !== '') status.targetSelector = selector
    object.status = status
    return object
  },
}

/** By the apiVersion the Scale of a subresource has. */
export const scaleConversions: Conversions = {
  'extensions/v1beta1': conversion,
  'apps/v1beta1': conversion,
  'apps/v1beta2': conversion,
}
