/** Table columns of Service. */
import { formatLabels } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn, wideColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { loadBalancerAddresses } from './load-balancer-addresses.ts'

function externalAddress(service: KubeObject): string {
  const { type, externalIPs = [], externalName } = service.spec ?? {}
  if (type === 'ClusterIP' || type === 'NodePort') return externalIPs.join(',') || '<none>'
  if (type === 'LoadBalancer') {
    const given = loadBalancerAddresses(service)
    return [...(given === '' ? [] : [given]), ...externalIPs].join(',') || '<pending>'
  }
  return type === 'ExternalName' ? (externalName ?? '') : '<unknown>'
}

function shownPort({ port, nodePort, protocol }: Loose): string {
  return nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`
}

export const serviceColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Type', 'How the service is reached.'),
    column('Cluster-IP', 'Address within the cluster.'),
    column('External-IP', 'Addresses from outside.'),
    column('Port(s)', 'Ports, and the node ports that lead to them.'),
    ageColumn,
    wideColumn('Selector', 'Labels of the pods behind it.'),
  ],
  cells: (object, now) => {
    const spec = object.spec ?? {}
    return [
      object.metadata.name,
      spec.type ?? '',
      (spec.clusterIPs?.[0] ?? spec.clusterIP) || '<none>',
      externalAddress(object),
      (spec.ports ?? []).map(shownPort).join(',') || '<none>',
      ageOf(object, now),
      formatLabels(spec.selector),
    ]
  },
}
