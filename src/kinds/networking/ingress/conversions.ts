/**
 * Conversions of Ingress: the beta versions have serviceName and servicePort; v1, the hub, nests
 * them.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'

function backendToHub(backend: Loose): Loose {
  const { serviceName = '', servicePort = 0, resource } = backend
  const out: Loose = {}
  if (serviceName !== '' || servicePort !== 0) {
    const port: Loose = {}
    if (typeof servicePort === 'string') {
      if (servicePort !== '') port.name = servicePort
      else rememberEmpty(port, 'name')
    } else if (servicePort !== 0) port.number = servicePort
    out.service = { name: serviceName, port }
  }
  if (resource !== undefined) out.resource = resource
  return out
}

/** The port is always written, because Go cannot omit an IntOrString. */
function backendFromHub({ service, resource }: Loose): Loose {
  const out: Loose = {}
  if (service?.name) out.serviceName = service.name
  out.servicePort = service?.port?.name || service?.port?.number || 0
  if (resource !== undefined) out.resource = resource
  return out
}

const pathsOf = (object: KubeObject): Loose[] =>
  ((object.spec?.rules ?? []) as Loose[]).flatMap((rule) => rule.http?.paths ?? [])

function toHub(object: KubeObject): KubeObject {
  for (const path of pathsOf(object)) path.backend = backendToHub(path.backend ?? {})
  if (object.spec?.backend) {
    object.spec.defaultBackend = backendToHub(object.spec.backend)
    delete object.spec.backend
  }
  return object
}

function fromHub(object: KubeObject): KubeObject {
  for (const path of pathsOf(object)) path.backend = backendFromHub(path.backend ?? {})
  if (object.spec?.defaultBackend) {
    object.spec.backend = backendFromHub(object.spec.defaultBackend)
    delete object.spec.defaultBackend
  }
  return object
}

const conversion: Conversion = { toHub, fromHub }

export const ingressConversions: Conversions = {
  'networking.k8s.io/v1beta1': conversion,
  'extensions/v1beta1': conversion,
}
