/** Columns of Ingress, IngressClass and NetworkPolicy. */
import { formatLabelSelector } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf } from './age.ts'
import { ageColumn, column, nameColumn } from './column.ts'
import { loadBalancerAddresses } from './load-balancer.ts'

const hostsShownMax = 3

/** The first three hosts, and how many rules come after the third host. */
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

function parametersOf(ingressClass: KubeObject): string {
  const parameters = ingressClass.spec?.parameters
  if (!parameters) return '<none>'
  const { kind = '', apiGroup, name = '' } = parameters
  return `${kind}${typeof apiGroup === 'string' ? `.${apiGroup}` : ''}/${name}`
}

export const ingressClassColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Controller', 'The controller that serves the class.'),
    column('Parameters', 'Where its settings are.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.controller ?? '',
    parametersOf(object),
    ageOf(object, now),
  ],
}

export const networkPolicyColumns: TableColumns = {
  columns: [nameColumn, column('Pod-Selector', 'Labels of the pods it is for.'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    formatLabelSelector(object.spec?.podSelector ?? {}),
    ageOf(object, now),
  ],
}
