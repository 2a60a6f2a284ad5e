/** Defaults of Endpoints. */
import type { Defaulters } from '#kinds/all-kinds/defaulter.ts'

export const endpointsDefaults: Defaulters = {
  'io.k8s.api.core.v1.EndpointPort': (value) => {
    value.protocol ||= 'TCP'
  },
}
