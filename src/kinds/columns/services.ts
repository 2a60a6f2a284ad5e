/** Columns of Service, Endpoints and EndpointSlice. */
import { formatLabels } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf } from './age.ts'
import { ageColumn, column, nameColumn, wideColumn, withMore } from './column.ts'
import { loadBalancerAddresses } from './load-balancer.ts'

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

const hostPort = (ip: string, port: number): string =>
  ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`

const endpointsShownMax = 3

/** Every address with every port of its subset: the first few are made, the others only counted. */
function shownEndpoints(subsets: Loose[]): string {
  if (subsets.length === 0) return '<none>'
  const list: string[] = []
  let count = 0
  for (const { addresses, ports } of subsets) {
    const some: Loose[] = (addresses ?? []).slice(0, endpointsShownMax)
    if (!ports?.length) list.push(...some.map(({ ip }) => ip))
    for (const { port } of (ports ?? []).slice(0, endpointsShownMax)) {
      list.push(...some.map(({ ip }) => hostPort(ip, port)))
    }
    count += (addresses ?? []).length * (ports?.length || 1)
  }
  const shown = list.slice(0, endpointsShownMax).join(',')
  return count > endpointsShownMax ? `${shown} + ${count - endpointsShownMax} more...` : shown
}

export const endpointsColumns: TableColumns = {
  columns: [nameColumn, column('Endpoints', 'Addresses that are ready.'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    shownEndpoints(object.subsets ?? []),
    ageOf(object, now),
  ],
}

export const endpointSliceColumns: TableColumns = {
  columns: [
    nameColumn,
    column('AddressType', 'What its addresses are.'),
    column('Ports', 'Ports of every endpoint.'),
    column('Endpoints', 'Addresses.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.addressType ?? '',
    withMore(
      (object.ports ?? []).map((port: Loose) => String(port.port ?? port.name ?? '*')),
      3,
      '<unset>',
    ),
    withMore(
      (object.endpoints ?? []).flatMap((endpoint: Loose) => endpoint.addresses ?? []),
      3,
      '<unset>',
    ),
    ageOf(object, now),
  ],
}
