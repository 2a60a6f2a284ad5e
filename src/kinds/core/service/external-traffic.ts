/**
 * Validation of externalTrafficPolicy and healthCheckNodePort against the service type. It runs
 * last, when all other fields are valid and addresses and ports are allocated.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { needsHealthCheckPort, needsNodePort, specOf } from './service-shape.ts'

const specPath = FieldPath.of('spec')

export function checkExternalTraffic(service: KubeObject): FieldError[] {
  const { externalTrafficPolicy: policy, healthCheckNodePort: port } = specOf(service)
  const errors: FieldError[] = []
  if (!needsNodePort(service) && policy) {
    const detail = 'ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service'
    errors.push(invalid(specPath.child('externalTrafficPolicy'), policy, detail))
  }
  if (!needsHealthCheckPort(service) && port) {
    const detail =
      'HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local'
    errors.push(invalid(specPath.child('healthCheckNodePort'), port, detail))
  }
  // The allocated port: the requested one was checked before.
  if (port < 0) {
    const detail = 'HealthCheckNodePort must be not less than 0'
    errors.push(invalid(specPath.child('healthCheckNodePort'), port, detail))
  }
  return errors
}
