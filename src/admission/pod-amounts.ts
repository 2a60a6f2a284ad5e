/**
 * The total requests or limits of a pod. Containers run concurrently. Each init container runs
 * before them, together with the sidecars that started earlier:
 *
 *   init a: 3   sidecar s: 1   init b: 2   containers: 1 + 1
 *   max(3, 1 + 2, 1 + 1 + 1) = 3
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { isZeroQuantity, type Quantity } from '#api/quantity.ts'
import { add, amountsOf, larger, type ResourceAmounts } from './quota/resource-amounts.ts'

export type AmountField = 'requests' | 'limits'

export interface AmountOptions {
  /** Whether the overhead of the runtime class is added. */
  readonly overhead: boolean
  /** Whether overhead is added to limits that no container has, as before 1.27. */
  readonly addsMissingLimits?: boolean
  /** Whether `spec.resources` takes precedence over the sum of the containers. */
  readonly podLevel: boolean
  /** Whether the resources that the kubelet has allocated count if they are larger. */
  readonly allocated?: boolean
}

/** The resources that `spec.resources` may have. */
export const isPodLevelResource = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')

export function podAmounts(
  { spec, status }: KubeObject,
  field: AmountField,
  options: AmountOptions,
): ResourceAmounts {
  let total = options.allocated
    ? withStatus(spec, status ?? {}, field)
    : sumOf(spec, ({ resources }) => resources?.[field])
  if (options.podLevel) {
    const own = [...amountsOf(spec.resources?.[field])].filter(([name]) => isPodLevelResource(name))
    total = new Map([...total, ...own])
  }
  if (!options.overhead || !spec.overhead) return total
  const overhead = amountsOf(spec.overhead)
  if (field === 'requests' || options.addsMissingLimits) return add(total, overhead)
  const isLimited = (name: string) => !isZeroQuantity(total.get(name) ?? noAmount)
  return add(total, new Map([...overhead].filter(([name]) => isLimited(name))))
}

const noAmount = '0'

type AmountList = Record<string, string> | null | undefined

function sumOf(spec: Loose, amountsIn: (container: Loose) => AmountList): Map<string, Quantity> {
  let total = new Map<string, Quantity>()
  for (const container of (spec.containers ?? []) as Loose[])
    total = add(total, amountsOf(amountsIn(container)))
  let sidecars: ResourceAmounts = new Map()
  let initial: ResourceAmounts = new Map()
  for (const container of (spec.initContainers ?? []) as Loose[]) {
    const amounts = amountsOf(amountsIn(container))
    const together = add(amounts, sidecars)
    if (container.restartPolicy === 'Always') {
      total = add(total, amounts)
      sidecars = together
    }
    initial = larger(initial, together)
  }
  return larger(total, initial)
}

/** The maximum of the desired, the allocated and the actual resources. */
function withStatus(spec: Loose, status: Loose, field: AmountField): ResourceAmounts {
  const isInfeasible = (status.conditions as Loose[] | undefined)?.some(
    ({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible',
  )
  const statuses = new Map<string, Loose>()
  for (const list of [status.containerStatuses, status.initContainerStatuses])
    for (const one of (list ?? []) as Loose[]) statuses.set(one.name, one)
  const wanted = ({ resources }: Loose): AmountList => resources?.[field]
  const otherwise = (container: Loose) => (isInfeasible ? undefined : wanted(container))
  const allocated = (container: Loose): AmountList =>
    field === 'requests' ? statuses.get(container.name)?.allocatedResources : undefined
  let most: ResourceAmounts = sumOf(
    spec,
    (container) =>
      statuses.get(container.name)?.resources?.[field] ??
      allocated(container) ??
      otherwise(container),
  )
  if (field === 'requests')
    most = larger(
      most,
      sumOf(spec, (container) => allocated(container) ?? otherwise(container)),
    )
  return isInfeasible ? most : larger(most, sumOf(spec, wanted))
}
