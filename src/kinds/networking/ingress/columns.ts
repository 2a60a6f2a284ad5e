/** Table columns of Ingress. */
import type { Loose } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { loadBalancerAddresses } from '#kinds/core/service/load-balancer-addresses.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

const hostsShownMax = 3

/** The first three hosts, and the number of further rules. */
function hostsOf(rules: Loose[]): string {
  const hosts: string[] = []
  for (const { host } of rules) {
    if (hosts.length === hostsShownMax) {
      return `${hosts.join(',')} + ${rules.length - hostsShownMax} more...`
    }
    if (host) hosts.push(host)
  }
  return hosts.join(',') || '*'
}

export const ingressColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Class', 'The class of controllers it is for.'),
    column('Hosts', 'Hosts its rules are for.'),
    column('Address', 'Where it can be reached.'),
    column('Ports', 'Ports it listens on.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.ingressClassName ?? '<none>',
    hostsOf(object.spec?.rules ?? []),
    loadBalancerAddresses(object),
    object.spec?.tls?.length ? '80, 443' : '80',
    ageOf(object, now),
  ],
}
