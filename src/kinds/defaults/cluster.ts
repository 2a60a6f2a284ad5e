/** Defaults of namespaces, nodes, secrets, limits and quotas, and the fields decoding makes of others. */
import type { Loose } from '#api/object-meta.ts'
import { forgetEmpty, wasWrittenEmpty } from '#api/written-empty.ts'
import { copyText } from '#api/written-text.ts'
import { setKey } from '#schema/user-key.ts'
import { roundAmounts } from './core-pods.ts'
import type { Defaulter, Defaulters } from './defaulter.ts'

/** A namespace carries its name as a label; one whose name is still to be made gets it later. */
const namespace: Defaulter = (value, { feature }) => {
  const name = value.metadata?.name
  if (!name || !feature('NamespaceDefaultLabelName')) return
  value.metadata.labels ??= {}
  setKey(value.metadata.labels, 'kubernetes.io/metadata.name', name)
}

/** Text is another way to write data, and is never read back. */
const secret: Defaulter = (value) => {
  value.type ||= 'Opaque'
  const text: Record<string, string> | undefined = value.stringData
  if (text === undefined) return
  delete value.stringData
  if (text === null || Object.keys(text).length === 0) return
  value.data ??= {}
  for (const key of Object.keys(text)) {
    setKey(value.data, key, Buffer.from(text[key] as string).toString('base64'))
  }
}

/** One range and a list of ranges: where the first of the list is another, the one counts. The list came with 1.16. */
const nodeSpec: Defaulter = (value, { release }) => {
  if (release < 16) return
  const differs = value.podCIDR && value.podCIDR !== value.podCIDRs?.[0]
  if (differs) value.podCIDRs = [value.podCIDR]
  else if (value.podCIDRs?.length) value.podCIDR = value.podCIDRs[0]
}

const nodeStatus: Defaulter = (value) => {
  const isLeftOut = !value.allocatable && !wasWrittenEmpty(value, 'allocatable')
  if (isLeftOut && value.capacity) {
    value.allocatable = { ...value.capacity }
    for (const name in value.capacity) copyText(value.capacity, value.allocatable, name)
  }
  roundAmounts(value.capacity)
  roundAmounts(value.allocatable)
}

const amounts =
  (...fields: string[]) =>
  (value: Loose): void => {
    for (const field of fields) roundAmounts(value[field])
  }

/** Adds what one list of amounts has and another lacks. */
function addMissing(item: Loose, field: string, from: Record<string, string> | undefined): void {
  for (const name of Object.keys(from ?? {})) {
    item[field] ??= {}
    if (Object.hasOwn(item[field], name)) continue
    setKey(item[field], name, (from as Loose)[name])
    copyText(from as Loose, item[field], name)
  }
  forgetEmpty(item, field)
}

const limitRangeItem: Defaulter = (value) => {
  if (value.type === 'Container') {
    addMissing(value, 'default', value.max)
    addMissing(value, 'defaultRequest', value.default)
    addMissing(value, 'defaultRequest', value.min)
  }
  amounts('max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio')(value)
}

const core = (type: string): string => `io.k8s.api.core.v1.${type}`
const preemption: Defaulter = (value, { feature }) => {
  if (feature('NonPreemptingPriority')) value.preemptionPolicy ??= 'PreemptLowerPriority'
}

export const clusterDefaults: Defaulters = {
  [core('Namespace')]: namespace,
  [core('NamespaceStatus')]: (value) => {
    value.phase ||= 'Active'
  },
  [core('Secret')]: secret,
  [core('NodeSpec')]: nodeSpec,
  [core('NodeStatus')]: nodeStatus,
  [core('LimitRangeItem')]: limitRangeItem,
  [core('ResourceQuotaSpec')]: amounts('hard'),
  [core('ResourceQuotaStatus')]: amounts('hard', 'used'),
  'io.k8s.api.scheduling.v1.PriorityClass': preemption,
  'io.k8s.api.scheduling.v1beta1.PriorityClass': preemption,
  'io.k8s.api.scheduling.v1alpha1.PriorityClass': preemption,
}
