/** Defaults of AuditSink. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

/** Defaults of the throttle of an audit sink, and of its fields. */
const throttle: Defaulter = (value) => {
  value.throttle ??= {}
  value.throttle.qps ??= 10
  value.throttle.burst ??= 15
}

const port: Defaulter = (value) => {
  value.port ??= 443
}

export const auditSinkDefaults: Defaulters = {
  'io.k8s.api.auditregistration.v1alpha1.Webhook': throttle,
  'io.k8s.api.auditregistration.v1alpha1.ServiceReference': port,
}
