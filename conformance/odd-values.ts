/**
 * Odd and plain values of a type, always the same: boundaries of numbers, texts that some rule
 * minds, keys that mean something. What a field is called and which values are declared for its
 * type say what is plain; whether it is right, servers say.
 */
import type { Json } from '#api/object-meta.ts'
import type { Field, Scalar, Struct, Type } from '#schema/type.ts'
import type { DeclaredValues } from './random-value.ts'

const texts: readonly string[] = [
  '',
  'a',
  'A_b',
  'a b',
  'a.b',
  'a/b',
  'example.com/x',
  '/x',
  '../x',
  'a/../b',
  '-a',
  '1',
  '10.0.0.1',
  '::1',
  '127.0.0.1',
  '10.0.0.0/8',
  'a:b',
  '%',
  'ünï',
  'kubernetes.io/x',
  'None',
  'https://a.b/c',
  'x'.repeat(64),
  'x'.repeat(254),
]
/**
 * Plain values of fields by name, the first of which fills what must be there. Recorded rows depend
 * on the first one: a name that was not here was filled with `a`.
 */
const plainByName: Readonly<Record<string, readonly string[]>> = {
  name: ['a', 'cpu'],
  key: ['a', 'kubernetes.io/hostname', 'metadata.name', 'node.kubernetes.io/unreachable'],
  operator: ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Equal', 'Gt', 'Lt'],
  path: ['/x', 'x', '/'],
  mountPath: ['/x', 'x', '/v', 'a:b'],
  devicePath: ['/x', '/v', 'a/../b'],
  image: ['nginx', ' nginx'],
  fieldPath: ['metadata.name', 'metadata.labels', "metadata.labels['a']", "metadata.x['a']", 'x'],
  resource: ['limits.cpu', 'requests.memory', 'requests.ephemeral-storage', 'limits.hugepages-2Mi'],
  topologyKey: ['kubernetes.io/hostname', 'a'],
  apiVersion: ['v1', 'apps/v1', 'a/b/c'],
  kind: ['Pod', 'PersistentVolumeClaim', 'User', 'Group', 'ServiceAccount', 'Role', 'Deployment'],
  apiGroup: ['', 'rbac.authorization.k8s.io', 'apps', 'snapshot.storage.k8s.io'],
  schedule: ['* * * * *', '@daily', '@every 1m', '0 0 31 2 *', '60 * * * *', 'TZ=UTC * * * * *'],
  cidr: ['10.0.0.0/8', '10.0.0.1', '::/0'],
  ip: ['1.2.3.4', '169.254.0.1', '224.0.0.1', '0.0.0.0', 'fe80::1'],
  clusterIP: ['None', '', '10.0.77.7', '1.2.3.4'],
  loadBalancerSourceRanges: ['10.0.0.0/8', ' 10.0.0.0/8 '],
  hosts: ['a.b', '*.a.b'],
  host: ['a.b', '*.a.b', '*'],
  iqn: ['iqn.2001-04.com.example:storage', 'eui.0123456789abcdef', 'naa.0123456789abcdef'],
  verbs: ['*', 'get'],
  scopes: ['*', 'Cluster', 'Namespaced'],
  matchPolicy: ['Exact', 'Equivalent'],
  url: ['https://a.b/c', 'http://a.b', 'https://u:p@a.b', 'https://a.b?x', 'https://a.b#x'],
  admissionReviewVersions: ['v1', 'v1beta1', 'v2'],
  addresses: ['1.2.3.4', '::1', 'a.b'],
  pdName: ['a'],
  podCIDR: ['10.1.0.0/24', 'fd00::/64', '10.1.0.0/33'],
  podCIDRs: ['10.1.0.0/24', 'fd00::/64'],
  nonResourceURLs: ['/x', '/x/*', '*', '/x*', 'x', '/'],
  runtimeClassName: ['a', 'a.b'],
  nodeName: ['a', 'a.b'],
  hostname: ['a', 'a.b'],
  subdomain: ['a', 'a.b'],
  priorityClassName: ['', 'system-node-critical', 'a'],
  allowedUnsafeSysctls: ['a.b', '*', 'a.*', 'net/b', 'kernel.*', 'kernel.msgmax'],
  forbiddenSysctls: ['a.b', '*', 'kernel.*', 'net.ipv4.tcp_syncookies'],
  targetPort: ['http'],
  port: ['http'],
  provisioner: ['a.b/c'],
  driver: ['a.b', 'A.b', 'a/b'],
  gmsaCredentialSpecName: ['a', 'A'],
  runAsUserName: ['a', 'd\\u', 'a\tb', 'd\\', '\\u', 'u.', '.'.repeat(3), 'd!\\u', 'u"'],
  volumeMode: ['Block', 'Filesystem'],
  localhostProfile: ['a/b', '/a', '../a'],
  nodePublishSecretRef: ['a'],
  fsType: ['ext4'],
  searches: ['a.b', 'a.b.', '.', 'A_b', 'x'.repeat(256)],
  nameservers: ['1.2.3.4', '::1', 'a'],
  hostnames: ['a', 'A', '*.a'],
  topologyKeys: ['*', 'kubernetes.io/hostname', 'a'],
  ipFamilies: ['IPv4', 'IPv6'],
  ipFamilyPolicy: ['SingleStack', 'PreferDualStack', 'RequireDualStack'],
  signerName: ['a.b/c', 'kubernetes.io/kube-apiserver-client', 'a.b/c/d'],
  finalizers: ['a.b/c', 'kubernetes', 'foregroundDeletion', 'orphan'],
  expression: ['true', '1', "device.driver == 'a'", 'Object{}', 'x ==', '[JSONPatch{}]'],
  messageExpression: ["'a'", 'true', 'object.x'],
  valueExpression: ["'a'", 'true', 'x'],
  reason: ['a', 'Forbidden', 'Invalid', 'NotFound'],
  fieldRef: ['spec.validations[0].expression'],
  deviceClassName: ['a', 'a.b'],
  matchAttribute: ['a.b/c'],
  distinctAttribute: ['a.b/c'],
  version: ['a', '1.2.3', '1.0.0-a+b', '01.2.3', 'v1'],
  succeededIndexes: ['0', '0-1', '1,3-5', '1-0', '5', '0,0'],
  managedBy: ['a.b/c', 'kubernetes.io/job-controller'],
  timeZone: ['Etc/UTC', 'Local', 'Europe/Berlin', 'No/Where'],
  trafficDistribution: ['PreferClose', 'PreferSameNode', 'PreferSameZone'],
  hostnameOverride: ['a', 'a.b', '1.2.3.4'],
  volumeAttributesClassName: ['', 'a', 'a.b'],
  scopeName: ['Terminating', 'PriorityClass', 'BestEffort', 'CrossNamespacePodAffinity'],
}
const numbers: readonly number[] = [
  -1, 0, 1, 2, 3, 80, 100, 101, 1000, 32767, 65535, 65536, 86401, 2147483647, 2147483648,
]
const quantities: readonly Json[] = ['0', '1', '-1', '1500m', '1Gi', '1n', '2M', 3, 'x', '']
const resourceKeys: readonly string[] = [
  'cpu',
  'memory',
  'storage',
  'ephemeral-storage',
  'hugepages-2Mi',
  'hugepages-x',
  'hugepages-',
  'example.com/gpu',
  'kubernetes.io/x',
  'requests.example.com/gpu',
  'requests.cpu',
  'requests.storage',
  'limits.memory',
  'limits.ephemeral-storage',
  'requests.hugepages-2Mi',
  'count/pods',
  'count/deployments.apps',
  'count/a/b',
  'pods',
  'services.nodeports',
  'a.storageclass.storage.k8s.io/requests.storage',
  'attachable-volumes-x',
  'a',
  'A b',
  '',
]
const keys: readonly string[] = [
  'a',
  'A.b',
  'a b',
  'example.com/x',
  'Example.com/x',
  '/x',
  'a/b/c',
  '..',
  '..a',
  '.',
  '',
  'x'.repeat(64),
  'x'.repeat(254),
]

/** Of a struct that holds one of several things: its members that exclude each other. */
const chosen: Readonly<Record<string, (field: string) => boolean>> = {
  Volume: (field) => field !== 'name',
  PersistentVolumeSpec: (field) =>
    !/^(accessModes|capacity|claimRef|mountOptions|nodeAffinity|persistentVolume|storageC|volumeMode)/.test(
      field,
    ),
  Probe: (field) => ['exec', 'grpc', 'httpGet', 'tcpSocket'].includes(field),
  Handler: () => true,
  LifecycleHandler: () => true,
  EnvVarSource: () => true,
  EnvVar: (field) => field !== 'name',
  VolumeProjection: () => true,
  DownwardAPIVolumeFile: (field) => field.endsWith('Ref'),
  NetworkPolicyPeer: () => true,
  IngressBackend: () => true,
  VolumeAttachmentSource: () => true,
  DeviceRequest: (field) => field !== 'name',
  DeviceAttribute: () => true,
}

/** The members of a struct that must go when another of them comes. */
export const excluded = (struct: Struct, field: string): ((other: string) => boolean) => {
  const choice = chosen[struct.name.split('.').pop() as string]
  if (choice === undefined || !choice(field)) return () => false
  return (other) => other !== field && choice(other)
}

const declaredFor = ({ named = '' }: Scalar, declared: DeclaredValues) =>
  declared.get(named.split('.').pop() as string) ?? []

/** A value such as most rules take: what must be there, plainly filled. */
export function plainValue(type: Type, name: string, declared: DeclaredValues, depth = 0): Json {
  switch (type.is) {
    case 'scalar':
      return plainScalar(type, name, declared)
    case 'list':
      return depth > 6 ? [] : [plainValue(type.items, name, declared, depth + 1)]
    case 'map':
      return { a: plainValue(type.values, name, declared, depth + 1) }
    case 'struct': {
      const out: { [key: string]: Json } = {}
      if (type.union === true) return true
      for (const field of type.byName.values()) {
        if (!field.required || depth > 6) continue
        out[field.name] = plainValue(field.type, field.name, declared, depth + 1)
      }
      return out
    }
    case 'untyped':
      return {}
  }
}

function plainScalar(type: Scalar, name: string, declared: DeclaredValues): Json {
  switch (type.scalar) {
    case 'string':
      return declaredFor(type, declared)[0] ?? plainByName[name]?.[0] ?? 'a'
    case 'bool':
      return true
    case 'bytes':
      return 'aGk='
    case 'time':
      return '2020-01-02T03:04:05Z'
    case 'microTime':
      return '2020-01-02T03:04:05.123456Z'
    case 'duration':
      return '1m0s'
    case 'quantity':
      return '1'
    case 'any':
      return {}
    default:
      return 1
  }
}

/** The values that are tried for one field. */
export function oddValues({ type, name }: Field, declared: DeclaredValues): Json[] {
  const plain = plainValue(type, name, declared)
  switch (type.is) {
    case 'scalar':
      return oddScalars(type, name, declared)
    case 'list': {
      const [item] = plain as [Json]
      const items = type.items.is === 'scalar' ? oddScalars(type.items, name, declared) : [item]
      return [[], [null], [item, item], ...items.map((one) => [one])]
    }
    case 'map': {
      const { values } = type
      const one = plainValue(values, name, declared)
      const isAmounts = values.is === 'scalar' && values.scalar === 'quantity'
      if (!isAmounts) {
        const odd = values.is === 'scalar' ? oddScalars(values, name, declared) : []
        return [{}, ...keys.map((key) => ({ [key]: one })), ...odd.map((value) => ({ a: value }))]
      }
      const amounts = ['1', '1500m', '-1']
      return [{}, ...resourceKeys.flatMap((key) => amounts.map((amount) => ({ [key]: amount })))]
    }
    case 'struct':
      return type.union === true ? [true, {}, []] : [null, {}, plain]
    case 'untyped':
      return [null, {}, 'x', 1]
  }
}

function oddScalars(type: Scalar, name: string, declared: DeclaredValues): Json[] {
  switch (type.scalar) {
    case 'string': {
      const own = [...declaredFor(type, declared), ...(plainByName[name] ?? [])]
      return [...new Set<Json>([...own, ...texts])]
    }
    case 'bool':
      return [true, false, null]
    case 'bytes':
      return ['', 'aGk=', 'a', null]
    case 'time':
    case 'microTime':
      return [null, '2020-01-02T03:04:05Z', '2020-01-02T03:04:05.123456Z', 'now']
    case 'duration':
      return ['0s', '1s', '-1s', '1h1m', 'x']
    case 'quantity':
      return [...quantities]
    case 'intOrString':
      return [-1, 0, 1, 80, 65536, '', '25%', '0%', '100%', '101%', '-1%', 'http', 'a b', '80']
    case 'any':
      return [{}, { a: 1 }, null]
    default:
      return [...numbers, null]
  }
}
