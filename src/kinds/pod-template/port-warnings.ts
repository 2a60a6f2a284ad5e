/** Warnings about duplicate container ports and port names. */
import type { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'
import { containersWithPaths } from './containers-of.ts'

interface Place {
  readonly path: FieldPath
  readonly port: Loose
}

const portsOf = (spec: Loose, path: FieldPath): Place[] =>
  containersWithPaths(spec, path, true).flatMap(({ container, path: at }) =>
    ((container.ports ?? []) as Loose[]).map((port, i) => ({
      path: at.child('ports').index(i),
      port,
    })),
  )

export function portWarnings(spec: Loose, path: FieldPath): string[] {
  const warnings: string[] = []
  const places = new Map<string, Place[]>()
  for (const place of portsOf(spec, path)) {
    const { port } = place
    if (port.hostIP && !port.hostPort) {
      warnings.push(`${place.path}: hostIP set without hostPort: ${goPort(port)}`)
    }
    const key = `${port.containerPort ?? 0}/${port.protocol ?? ''}`
    const others = places.get(key) ?? []
    for (const other of others) {
      const kind = conflictOf(port, other.port)
      if (kind === undefined) continue
      warnings.push(`${place.path}: ${kind} port definition with ${other.path}`)
    }
    places.set(key, [...others, place])
  }
  return warnings
}

function conflictOf(port: Loose, other: Loose): string | undefined {
  const [hostPort, otherHostPort] = [port.hostPort ?? 0, other.hostPort ?? 0]
  const [hostIp, otherHostIp] = [port.hostIP ?? '', other.hostIP ?? '']
  if (hostIp === otherHostIp && hostPort === otherHostPort) return 'duplicate'
  if (hostPort === 0 || otherHostPort === 0) return 'overlapping'
  const oneIsOpen = (hostIp === '') !== (otherHostIp === '')
  return hostPort === otherHostPort && oneIsOpen ? 'dangerously ambiguous' : undefined
}

/** A port in the format of Go's `%+v`. */
const goPort = ({
  name = '',
  hostPort = 0,
  containerPort = 0,
  protocol = '',
  hostIP = '',
}: Loose) =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`

export function portNameWarnings(spec: Loose, path: FieldPath): string[] {
  const places = new Map<string, FieldPath>()
  return portsOf(spec, path).flatMap(({ path: at, port }) => {
    if (!port.name) return []
    const other = places.get(port.name)
    if (other === undefined) {
      places.set(port.name, at)
      return []
    }
    const detail = `services and probes that select ports by name will use ${other}`
    return [`${at}: duplicate port name ${goQuote(port.name)} with ${other}, ${detail}`]
  })
}
