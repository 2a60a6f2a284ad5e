/** Defaults of Node. */
import { nodesHavePodCidrs } from '#kinds/stored-fields.ts'
import { releaseOf } from '#api/releases/change.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { copyText } from '#api/written-text.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { roundAmounts } from '#kinds/all-kinds/round-amounts.ts'

/**
 * Keeps podCIDR and podCIDRs consistent. If the first of podCIDRs differs, podCIDR wins. podCIDRs
 * exists since 1.16.
 */
const nodeSpec: Defaulter = (value, { release }) => {
  if (!releaseOf(release).has(nodesHavePodCidrs)) return
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

export const nodeDefaults: Defaulters = {
  'io.k8s.api.core.v1.NodeSpec': nodeSpec,
  'io.k8s.api.core.v1.NodeStatus': nodeStatus,
}
