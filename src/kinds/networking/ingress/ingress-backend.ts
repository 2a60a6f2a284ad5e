/**
 * Validation of ingress backends: a service with a port, or another resource. Error paths use the
 * field names of the requested version.
 */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import {
  nameIsDns1035Label,
  nameIsDnsLabel,
  pathSegmentName,
  portName,
  portNumber,
} from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { checkDns1123Subdomain, each, requiredPlainly } from '#kinds/all-kinds/checks.ts'

export interface BackendNaming {
  readonly beta: boolean
  /** Whether names of services can begin with a digit. */
  readonly relaxedNames: boolean
}

export function checkBackend(
  backend: Loose,
  path: FieldPath,
  { beta, relaxedNames }: BackendNaming,
): FieldError[] {
  const { resource, service } = backend
  if (resource && service) {
    return [invalid(path, '', 'cannot set both resource and service backends')]
  }
  if (resource) return checkReference(resource, path.child('resource'))
  if (!service) return [invalid(path, '', 'resource or service backend is required')]
  const nameAt = beta ? path.child('serviceName') : path.child('service', 'name')
  const errors = service.name
    ? each(
        nameAt,
        service.name,
        (relaxedNames ? nameIsDnsLabel : nameIsDns1035Label)(service.name, false),
      )
    : [required(nameAt)]
  return [...errors, ...checkServicePort(service.port ?? {}, path, beta)]
}

function checkServicePort(port: Loose, path: FieldPath, beta: boolean): FieldError[] {
  const at = (field: string) =>
    beta ? path.child('servicePort') : path.child('service', 'port', field)
  if (port.name && port.number) {
    return [invalid(path, '', 'cannot set both port name & port number')]
  }
  if (port.name) return each(at('name'), port.name, portName(port.name))
  if (port.number) return each(at('number'), port.number, portNumber(port.number))
  return [required(path, 'port name or number is required')]
}

/** A reference to an object of any kind in the same namespace. */
export function checkReference(reference: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (typeof reference.apiGroup === 'string') {
    errors.push(...checkDns1123Subdomain(reference.apiGroup, path.child('apiGroup')))
  }
  for (const field of ['kind', 'name']) {
    const value: string = reference[field] ?? ''
    const at = path.child(field)
    if (value === '') errors.push(requiredPlainly(at, `${field} is required`))
    else errors.push(...each(at, value, pathSegmentName(value)))
  }
  return errors
}
