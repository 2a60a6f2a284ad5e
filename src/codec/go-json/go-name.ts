/**
 * The Go names of types and fields in kube-apiserver's messages. A field has its JSON name with a
 * capital first letter, except for initialisms and a few other names. A type has its package and
 * name.
 */
import type { List, Struct, Type } from '#schema/type.ts'

/** Words at the beginning of a name that are written in capitals. */
const initialisms =
  /^(api|aws|ca|cidr|csi|dns|fc|fs|gce|gmsa|http|id|ip|iqn|iscsi|json|nfs|os|pd|qos|qps|rbd|se|ssl|tcp|tls|ttl|tty|uid|url)(?=[A-Z]|s?$)/

/** Irregular names, at any position. */
const named: ReadonlyMap<string, string> = new Map([
  ['cephfs', 'CephFS'],
  ['chapAuthDiscovery', 'DiscoveryCHAPAuth'],
  ['chapAuthSession', 'SessionCHAPAuth'],
  ['storageos', 'StorageOS'],
  ['wwids', 'WWIDs'],
  ['$schema', 'Schema'],
  ['$ref', 'Ref'],
])

/** Names of the fields of one type. */
const namedIn: ReadonlyMap<string, string> = new Map([
  ['AzureDiskVolumeSource.diskURI', 'DataDiskURI'],
  ['AdmissionResponse.status', 'Result'],
  ['APIResourceList.resources', 'APIResources'],
  ['ContainerStatus.lastState', 'LastTerminationState'],
  ['GlusterfsPersistentVolumeSource.endpoints', 'EndpointsName'],
  ['GlusterfsVolumeSource.endpoints', 'EndpointsName'],
  ['NodeSpec.externalID', 'DoNotUseExternalID'],
  ['PhotonPersistentDiskVolumeSource.pdID', 'PdID'],
  ['PodSpec.serviceAccount', 'DeprecatedServiceAccount'],
  ['StatusCause.reason', 'Type'],
  ['core.v1.Event.reportingComponent', 'ReportingController'],
  ['authorization.v1beta1.SubjectAccessReviewSpec.group', 'Groups'],
  ['policy.v1beta1.PodDisruptionBudgetStatus.disruptionsAllowed', 'PodDisruptionsAllowed'],
  ...['RBDVolumeSource', 'RBDPersistentVolumeSource'].flatMap((type): [string, string][] => [
    [`${type}.monitors`, 'CephMonitors'],
    [`${type}.image`, 'RBDImage'],
    [`${type}.pool`, 'RBDPool'],
    [`${type}.user`, 'RadosUser'],
  ]),
])

export function goFieldName(struct: Struct, name: string): string {
  const parts = struct.name.split('.')
  const ofType =
    namedIn.get(`${parts.slice(-1)}.${name}`) ?? namedIn.get(`${parts.slice(-3).join('.')}.${name}`)
  return ofType ?? named.get(name) ?? metaName(struct, name) ?? capitalised(name)
}

/** Go embeds the metadata, so these fields have the names of their types. */
function metaName(struct: Struct, name: string): string | undefined {
  const type = name === 'metadata' ? struct.byName.get(name)?.type : undefined
  return type?.is === 'struct' ? type.name.split('.').pop() : undefined
}

/** `x-kubernetes-list-type` → `XListType`, `fsType` → `FSType`, `replicas` → `Replicas`. */
function capitalised(name: string): string {
  const plain = name
    .replace(/^x-kubernetes-/, 'x-')
    .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const inCapitals = plain.replace(initialisms, (word) => word.toUpperCase())
  return inCapitals.slice(0, 1).toUpperCase() + inCapitals.slice(1)
}

const scalarNames: Readonly<Record<string, string>> = {
  bytes: '[]uint8',
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  duration: 'v1.Duration',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
  any: 'interface {}',
}

/** `ofPackage`: the object's package, for the types whose name needs it. */
export function goTypeName(type: Type, ofPackage = 'v1'): string {
  switch (type.is) {
    case 'struct':
      return type.name.split('.').slice(-2).join('.')
    case 'list':
      return listName(type, ofPackage)
    case 'map':
      return `map[string]${goTypeName(type.values, ofPackage)}`
    case 'scalar':
      return type.named ?? scalarNames[type.scalar] ?? type.scalar
    case 'untyped':
      return 'interface {}'
  }
}

/**
 * A list that protobuf wraps has a name in Go: ExtraValue, which is used for a user's extra fields.
 */
const listName = (list: List, ofPackage: string): string =>
  list.wrapped === true ? `${ofPackage}.ExtraValue` : `[]${goTypeName(list.items, ofPackage)}`
