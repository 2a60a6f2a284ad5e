/** The rules for a service's ports. */
import { change, releaseOf } from '#api/releases/change.ts'
import { duplicate, type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goList } from '#api/go-syntax.ts'
import { portName, portNumber } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { checkDns1123Label, checkOneOf, each } from '#kinds/all-kinds/checks.ts'
import { checkAppProtocol } from './app-protocol.ts'
import { goServicePort, isLoadBalancer, specOf } from './service-shape.ts'

const portsPath = FieldPath.of('spec', 'ports')
const protocols = ['SCTP', 'TCP', 'UDP']
const alwaysOneProtocol = change(
  'services of type LoadBalancer always have ports of one protocol',
  { until: 19 },
)

/** `namesProtocols`: ports may name the protocol of their application. */
export function checkPorts(ports: Loose[], namesProtocols: boolean): FieldError[] {
  const names = new Set<string>()
  return ports.flatMap((port, i) => {
    const at = portsPath.index(i)
    return [
      ...checkPort(port, ports.length > 1, names, at),
      ...checkAppProtocol(port, at, namesProtocols),
    ]
  })
}

function checkPort(
  port: Loose,
  nameRequired: boolean,
  names: Set<string>,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  const name: string = port.name ?? ''
  if (name === '') {
    if (nameRequired) errors.push(required(path.child('name')))
  } else {
    errors.push(...checkDns1123Label(name, path.child('name')))
    if (names.has(name)) errors.push(duplicate(path.child('name'), name))
    names.add(name)
  }
  errors.push(
    ...each(path.child('port'), port.port ?? 0, portNumber(port.port ?? 0)),
    ...checkOneOf(port.protocol, protocols, path.child('protocol')),
    ...checkPortNumberOrName(port.targetPort ?? 0, path.child('targetPort')),
  )
  return errors
}

export const checkPortNumberOrName = (port: number | string, path: FieldPath): FieldError[] =>
  each(path, port, typeof port === 'string' ? portName(port) : portNumber(port))

/** A node port makes no sense within the cluster, and no port may be there twice. */
export function checkPortNumbers(service: KubeObject, release: number): FieldError[] {
  const ports: Loose[] = specOf(service).ports ?? []
  const errors = releaseOf(release).has(alwaysOneProtocol) ? checkOneProtocol(service, release) : []
  if (specOf(service).type === 'ClusterIP') {
    for (const [i, port] of ports.entries()) {
      if (!port.nodePort) continue
      const detail = "may not be used when `type` is 'ClusterIP'"
      errors.push(forbidden(portsPath.index(i).child('nodePort'), detail))
    }
  }
  const nodePorts = new Set<string>()
  for (const [i, port] of ports.entries()) {
    if (!port.nodePort) continue
    const key = `${port.protocol}/${port.nodePort}`
    if (nodePorts.has(key)) {
      errors.push(duplicate(portsPath.index(i).child('nodePort'), port.nodePort))
    }
    nodePorts.add(key)
  }
  const seen = new Set<string>()
  for (const [i, { protocol, port }] of ports.entries()) {
    const key = goServicePort({ protocol, port }, release)
    if (seen.has(key.text)) errors.push(duplicate(portsPath.index(i), key))
    seen.add(key.text)
  }
  return errors
}

/** A load balancer serves one protocol, unless an old service served more already. */
export function checkMixedProtocols(
  next: KubeObject,
  old: KubeObject | undefined,
  release: number,
): FieldError[] {
  const mixed = (service: KubeObject | undefined) =>
    new Set((service?.spec?.ports ?? []).map((port: Loose) => port.protocol)).size > 1
  if (
    releaseOf(release).has(alwaysOneProtocol) ||
    !isLoadBalancer(next) ||
    !mixed(next) ||
    mixed(old)
  )
    return []
  const detail = "may not contain more than 1 protocol when type is 'LoadBalancer'"
  return [invalid(portsPath, goPorts(next, release), detail)]
}

function checkOneProtocol(service: KubeObject, release: number): FieldError[] {
  if (!isLoadBalancer(service)) return []
  const used = new Set<string>()
  const errors: FieldError[] = []
  for (const [i, { protocol = '' }] of ((specOf(service).ports ?? []) as Loose[]).entries()) {
    if (protocols.includes(protocol)) used.add(protocol)
    else {
      const detail = 'cannot create an external load balancer with non-TCP/UDP/SCTP ports'
      errors.push(invalid(portsPath.index(i).child('protocol'), protocol, detail))
    }
  }
  if (used.size < 2) return errors
  const detail = 'cannot create an external load balancer with mix protocols'
  return [...errors, invalid(portsPath, goPorts(service, release), detail)]
}

const goPorts = (service: KubeObject, release: number) =>
  asGo(
    goList(
      'core.ServicePort',
      specOf(service).ports.map((port: Loose) => goServicePort(port, release)),
    ),
  )
