/**
 * Values of kube-apiserver's internal types, as messages show them since 1.34: every field with its
 * Go name, including unset fields. A value has only the name of its type; the kind resolves it when
 * a message is written.
 *
 *   internalValue('io.k8s.api.core.v1.KeyToPath', { key: 'a', path: 'b' })
 *     → {"Key":"a","Path":"b","Mode":null}
 */
import type { FieldError } from '#api/field-error.ts'
import { asGo, goJson, GoText, namesInOrder } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { Field, Struct, Type } from '#schema/type.ts'

/** The JSON of a value of a type. */
export type InternalJson = (type: string, value: Loose | Loose[] | undefined) => string

/** A message part that is completed when its types are known. */
export abstract class Unfinished extends GoText {
  abstract finish(jsonOf: InternalJson): GoText
}

/** By default, releases before 1.34 show only the name of the Go type. */
class InternalValue extends Unfinished {
  readonly type: string
  readonly value: Loose | Loose[] | undefined
  constructor(type: string, value: Loose | Loose[] | undefined, before34: string | undefined) {
    const [group = '', , name = ''] = type.split('.').slice(-3)
    super(before34 ?? `${group}.${name}{}`, 'null')
    this.type = type
    this.value = value
  }
  finish(jsonOf: InternalJson): GoText {
    return asGo(this.text, jsonOf(this.type, this.value))
  }
}

/**
 * `type` is the OpenAPI name of the type of the value, or of the items of a list. An absent value
 * is nil. `before34` is the text in releases before 1.34, where that is known.
 */
export const internalValue = (
  type: string,
  value: Loose | Loose[] | null | undefined,
  before34?: string,
): InternalValue | undefined =>
  value === null || value === undefined ? undefined : new InternalValue(type, value, before34)

type TypeOf = (name: string) => Type

/** Completes the internal values in errors. */
export function withInternalValues(errors: FieldError[], typeOf: TypeOf): FieldError[] {
  if (!errors.some(({ shown }) => shown?.value instanceof Unfinished)) return errors
  const jsonOfType: InternalJson = (name, value) => {
    const type = typeOf(name)
    return Array.isArray(value) ? listJson(value, type) : jsonOf(value as Loose, type)
  }
  return errors.map((error) =>
    error.shown?.value instanceof Unfinished
      ? { ...error, shown: { ...error.shown, value: error.shown.value.finish(jsonOfType) } }
      : error,
  )
}

const metaPrefix = 'io.k8s.apimachinery.pkg.apis.meta.'

function jsonOf(value: Loose, type: Type): string {
  if (type.is === 'list') return listJson(value as unknown as Loose[], type.items)
  if (type.is === 'map') {
    const members = namesInOrder(value).map(
      (name) => `${goJson(name)}:${jsonOf(value[name], type.values)}`,
    )
    return `{${members.join(',')}}`
  }
  if (type.is !== 'struct') return goJson(value)
  if (type.name.startsWith(metaPrefix)) return `{${taggedMembers(value, type).join(',')}}`
  return `{${members(value, type).join(',')}}`
}

const listJson = (items: Loose[], type: Type): string =>
  `[${items.map((item) => jsonOf(item, type)).join(',')}]`

/**
 * Types of meta/v1 have JSON tags even as internal types: they use JSON names and omit empty
 * fields.
 */
function taggedMembers(value: Loose, type: Struct): string[] {
  return [...type.byName].flatMap(([name, field]) => {
    const member = ownValue(value, name)
    if (member === undefined || member === null) return []
    return [`${goJson(name)}:${jsonOf(member as Loose, field.type)}`]
  })
}

function members(value: Loose, type: Struct): string[] {
  return [...type.byName.values()].flatMap((field) => {
    if (field.name === 'apiVersion' || field.name === 'kind') {
      // The type of a whole object; conversion leaves it out.
      if (type.byName.has('metadata')) return []
    }
    const member = ownValue(value, field.name) ?? undefined
    if (field.name === 'metadata' && field.type.is === 'struct') {
      return member === undefined ? [] : taggedMembers(member as Loose, field.type)
    }
    const json =
      member === undefined ? unsetJson(value, field) : jsonOf(member as Loose, field.type)
    return [`${goJson(goNameOf(type.name, field.name))}:${json}`]
  })
}

/** A list or map that the client wrote without items is not null. */
function unsetJson(holder: Loose, field: Field): string {
  if (!wasWrittenEmpty(holder, field.name)) return zeroJson(field)
  return field.type.is === 'list' ? '[]' : '{}'
}

function zeroJson({ pointer, type }: Field): string {
  if (pointer || type.is === 'list' || type.is === 'map') return 'null'
  if (type.is === 'struct') return jsonOf({}, type)
  if (type.is !== 'scalar') return 'null'
  switch (type.scalar) {
    case 'string':
      return '""'
    case 'bool':
      return 'false'
    case 'quantity':
      return '"0"'
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'uint64':
    case 'float64':
    case 'intOrString':
      return '0'
    default:
      return 'null'
  }
}

/** JSON names whose Go name differs by more than a capital letter. */
const goNames: ReadonlyMap<string, string> = new Map([
  ['apiGroup', 'APIGroup'],
  ['apiVersion', 'APIVersion'],
  ['awsElasticBlockStore', 'AWSElasticBlockStore'],
  ['cel', 'CEL'],
  ['cephfs', 'CephFS'],
  ['chapAuthDiscovery', 'DiscoveryCHAPAuth'],
  ['chapAuthSession', 'SessionCHAPAuth'],
  ['csi', 'CSI'],
  ['diskURI', 'DataDiskURI'],
  ['dnsConfig', 'DNSConfig'],
  ['dnsPolicy', 'DNSPolicy'],
  ['fc', 'FC'],
  ['fsGroup', 'FSGroup'],
  ['fsGroupChangePolicy', 'FSGroupChangePolicy'],
  ['fsType', 'FSType'],
  ['gcePersistentDisk', 'GCEPersistentDisk'],
  ['gmsaCredentialSpec', 'GMSACredentialSpec'],
  ['gmsaCredentialSpecName', 'GMSACredentialSpecName'],
  ['grpc', 'GRPC'],
  ['httpGet', 'HTTPGet'],
  ['httpHeaders', 'HTTPHeaders'],
  ['ip', 'IP'],
  ['iqn', 'IQN'],
  ['iscsi', 'ISCSI'],
  ['iscsiInterface', 'ISCSIInterface'],
  ['nfs', 'NFS'],
  ['os', 'OS'],
  ['pdName', 'PDName'],
  ['rbd', 'RBD'],
  ['seLinuxChangePolicy', 'SELinuxChangePolicy'],
  ['seLinuxOptions', 'SELinuxOptions'],
  ['serviceAccount', 'DeprecatedServiceAccount'],
  ['sslEnabled', 'SSLEnabled'],
  ['storageos', 'StorageOS'],
  ['tcpSocket', 'TCPSocket'],
  ['ttlSecondsAfterFinished', 'TTLSecondsAfterFinished'],
  ['tty', 'TTY'],
  ['uid', 'UID'],
  ['wwids', 'WWIDs'],
])

/** Fields whose Go name depends on the type. */
const goNamesOfTypes: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  [
    'RBDVolumeSource',
    new Map([
      ['image', 'RBDImage'],
      ['monitors', 'CephMonitors'],
      ['pool', 'RBDPool'],
      ['user', 'RadosUser'],
    ]),
  ],
  ['GlusterfsVolumeSource', new Map([['endpoints', 'EndpointsName']])],
])

function goNameOf(type: string, field: string): string {
  const own = goNamesOfTypes.get(type.slice(type.lastIndexOf('.') + 1))?.get(field)
  return own ?? goNames.get(field) ?? field.charAt(0).toUpperCase() + field.slice(1)
}
