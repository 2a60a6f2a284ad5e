import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { OlderServiceWork } from './older-service-work.ts'
import type { ServiceTaking } from './service-taking.ts'

const taking = {
  had: { addresses: [], ports: [] },
  families: ['IPv4'],
  takeAddress: () => 'provided IP is already allocated',
} as unknown as ServiceTaking

/** The error for a service whose address is taken. */
function errorIn(release: number, address: string): string {
  const spec = { clusterIP: address, clusterIPs: [address] }
  const service = { metadata: { name: 's' }, spec } as KubeObject
  try {
    new OlderServiceWork(taking, service, undefined, { release }).addresses()
  } catch (error) {
    return (error as Error).message.replace('Service "s" is invalid: ', '')
  }
  return 'no error'
}

const shown = '[]string{"10.0.0.1"}'
const why = 'provided IP is already allocated'
checkBoundaries<string, string>(errorIn, [
  [
    'an address that is taken: all addresses',
    [19, 20],
    '10.0.0.1',
    `spec.clusterIP: Invalid value: "10.0.0.1": ${why}`,
    `spec.clusterIPs: Invalid value: ${shown}: failed to allocated ip:10.0.0.1 with error:${why}`,
  ],
  [
    'an address that is taken',
    [21, 22],
    '10.0.0.1',
    `spec.clusterIPs: Invalid value: ${shown}: failed to allocated ip:10.0.0.1 with error:${why}`,
    `spec.clusterIPs: Invalid value: ${shown}: failed to allocate IP 10.0.0.1: ${why}`,
  ],
])
