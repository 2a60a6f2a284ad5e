/**
 * Checks the audience for which a kubelet requests a token. A pod volume, a CSI driver of the pod's
 * volumes, or the operator's configuration must allow it.
 */
import type { Authorizer } from '#access/authorize.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { goQuote } from '#api/go-syntax.ts'
import { change, type Release } from '#api/releases/change.ts'
import { type ApiError, notFound } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionRequest } from './admission.ts'
import { refusal, together } from './refusal.ts'

const audiencesByRight = change('a right lets a node request tokens for other audiences', {
  since: 33,
})
const audiencesByRightAlone = change('the refusal of an audience names only the right', {
  since: 37,
})

/** CSI drivers that replaced in-tree volume types. */
const driverOfSource: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
}

export async function requireAudience(
  request: AdmissionRequest,
  pod: KubeObject,
  reader: ObjectReader,
  { authorizer, release }: { authorizer: Authorizer; release: Release },
): Promise<void> {
  const audiences: string[] = request.object?.spec?.audiences ?? []
  if (audiences.length > 1) throw refusal(request, 'node may only request 0 or 1 audiences')
  const audience = audiences[0] ?? ''
  const quoted = goQuote(audience)
  if (mountsAudience(pod, audience)) return
  const problems: string[] = []
  for (const volume of (pod.spec.volumes ?? []) as Loose[])
    if (await driverHas(pod, volume, audience, reader, problems)) return
  if (problems.length > 0)
    throw refusal(request, `error validating audience ${quoted}: ${together(problems)}`)
  const unknown = `audience ${quoted} not found in pod spec volume`
  if (!release.has(audiencesByRight)) throw refusal(request, unknown)
  const { decision } = await authorizer.authorize({
    user: request.user,
    verb: 'request-serviceaccounts-token-audience',
    isResource: true,
    group: '',
    version: 'v1',
    resource: audience,
    subresource: '',
    namespace: request.namespace,
    name: request.name,
    path: '',
  })
  if (decision === 'allow') return
  const { name } = request.user
  const why = release.has(audiencesByRightAlone)
    ? `${name} is not authorized to request tokens for audience ${quoted}`
    : `${unknown}, ${name} is not authorized to request tokens for this audience`
  throw refusal(request, why)
}

const mountsAudience = ({ spec }: KubeObject, audience: string): boolean =>
  ((spec.volumes ?? []) as Loose[]).some(({ projected }) =>
    ((projected?.sources ?? []) as Loose[]).some(
      ({ serviceAccountToken }) =>
        serviceAccountToken && (serviceAccountToken.audience ?? '') === audience,
    ),
  )

/**
 * Whether the CSI driver of a volume requests tokens for the audience. Missing objects are added to
 * `problems`.
 */
async function driverHas(
  pod: KubeObject,
  volume: Loose,
  audience: string,
  reader: ObjectReader,
  problems: string[],
): Promise<boolean> {
  try {
    const name = await driverOf(pod, volume, reader)
    if (!name) return false
    const driver = await reader.get('storage.k8s.io', 'csidrivers', '', name)
    if (driver === undefined) throw notFound({ group: 'storage.k8s.io', plural: 'csidriver' }, name)
    const requests: Loose[] = driver.spec?.tokenRequests ?? []
    return requests.some((one) => (one.audience ?? '') === audience)
  } catch (error) {
    problems.push((error as ApiError).message)
    return false
  }
}

async function driverOf(
  { metadata }: KubeObject,
  volume: Loose,
  reader: ObjectReader,
): Promise<string | undefined> {
  if (volume.csi) return volume.csi.driver
  const claim: string | undefined = volume.ephemeral?.volumeClaimTemplate
    ? `${metadata.name}-${volume.name}`
    : volume.persistentVolumeClaim?.claimName
  if (claim === undefined) return migratedDriver(volume)
  const found = await reader.get('', 'persistentvolumeclaims', metadata.namespace ?? '', claim)
  if (found === undefined) throw notFound({ group: '', plural: 'persistentvolumeclaim' }, claim)
  const name: string = found.spec?.volumeName ?? ''
  const persistent = await reader.get('', 'persistentvolumes', '', name)
  if (persistent === undefined) throw notFound({ group: '', plural: 'persistentvolume' }, name)
  return persistent.spec?.csi?.driver ?? migratedDriver(persistent.spec ?? {})
}

const migratedDriver = (source: Loose): string | undefined => {
  const field = Object.keys(driverOfSource).find((name) => source[name] != null)
  return field === undefined ? undefined : driverOfSource[field]
}
