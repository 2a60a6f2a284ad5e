/** Keeps allocated addresses and ports of a service if an update omits them. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { isExternalName, needsHealthCheckPort, specOf } from './service-shape.ts'

/** Older clients set only `clusterIP`, so `clusterIPs` is derived from it. */
export function nameAllAddresses(spec: Loose): void {
  if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP]
}

/** An update that omits an allocated value keeps it. */
export function keepAllocated(
  next: KubeObject,
  old: KubeObject,
  needsNodePort: (service: KubeObject) => boolean,
): void {
  const [spec, then] = [next.spec, specOf(old)]
  if (!isExternalName(old) && !isExternalName(next)) {
    if (!spec.clusterIP && then.clusterIP) spec.clusterIP = then.clusterIP
    if (!spec.clusterIPs?.length && then.clusterIPs) spec.clusterIPs = [...then.clusterIPs]
  }
  if (needsNodePort(old) && needsNodePort(next)) keepNodePorts(spec.ports ?? [], then.ports ?? [])
  if (needsHealthCheckPort(old) && needsHealthCheckPort(next) && !spec.healthCheckNodePort) {
    if (then.healthCheckNodePort) spec.healthCheckNodePort = then.healthCheckNodePort
  }
}

/**
 * Matches ports by name. A port keeps its old node port unless another port uses that number now.
 */
function keepNodePorts(ports: Loose[], oldPorts: Loose[]): void {
  const numbers = (list: Loose[]) => new Set(list.map((port) => port.nodePort).filter(Boolean))
  const old = numbers(oldPorts)
  const used = new Set([...numbers(ports)].filter((number) => old.has(number)))
  const byName = new Map(oldPorts.map((port) => [port.name ?? '', port.nodePort]))
  for (const port of ports) {
    const number = byName.get(port.name ?? '')
    if (!port.nodePort && number && !used.has(number)) port.nodePort = number
  }
}

/** Keeps `clusterIP` and `clusterIPs` consistent: an update of one changes the other. */
export function followClusterIp(spec: Loose, then: Loose): void {
  const same = () => sameJson(spec.clusterIPs, then.clusterIPs)
  const [ip, oldIp] = [spec.clusterIP ?? '', then.clusterIP ?? '']
  if (then.clusterIPs?.length && !spec.clusterIPs?.length && ip === oldIp) {
    spec.clusterIPs = [...then.clusterIPs]
  }
  if (ip === oldIp || !same()) return
  if (oldIp !== '' && ip === '') delete spec.clusterIPs
  else spec.clusterIPs = [ip]
}
