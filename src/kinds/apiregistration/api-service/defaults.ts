/** Defaults of APIService. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const port: Defaulter = (value) => {
  value.port ??= 443
}

const aggregator = 'io.k8s.kube-aggregator.pkg.apis.apiregistration'

export const apiServiceDefaults: Defaulters = {
  [`${aggregator}.v1.ServiceReference`]: port,
  [`${aggregator}.v1beta1.ServiceReference`]: port,
}
