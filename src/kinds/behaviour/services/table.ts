/** The behaviours of services and where they lead, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { endpointSlice } from './endpoint-slice.ts'
import { endpoints } from './endpoints.ts'
import { service } from './service.ts'

export const serviceBehaviours: Readonly<Record<string, Behaviour>> = {
  '/services': service,
  '/endpoints': endpoints,
  'discovery.k8s.io/endpointslices': endpointSlice,
}
