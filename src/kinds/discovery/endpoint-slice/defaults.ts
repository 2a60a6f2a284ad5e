/** Defaults of EndpointSlice. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const slicePort: Defaulter = (value) => {
  value.name ??= ''
  value.protocol ??= 'TCP'
}

export const endpointSliceDefaults: Defaulters = {
  'io.k8s.api.discovery.v1.EndpointPort': slicePort,
  'io.k8s.api.discovery.v1beta1.EndpointPort': slicePort,
  'io.k8s.api.discovery.v1alpha1.EndpointPort': slicePort,
}
