/**
 * Types and functions that Kubernetes adds: URLs, quantities, addresses, named formats, semantic
 * versions, JSON patches.
 */
import {
  boolType,
  type CelType,
  declare,
  doubleType,
  type FunctionDeclaration,
  intType,
  listOf,
  mapOf,
  member,
  objectType,
  opaqueType,
  optionalOf,
  overload,
  stringType,
} from '#cel/cel-type.ts'

export const urlType = objectType('kubernetes.URL')
export const quantityType = objectType('kubernetes.Quantity')
export const ipType = opaqueType('net.IP')
export const cidrType = opaqueType('net.CIDR')
export const formatType = objectType('kubernetes.NamedFormat')
export const semverType = objectType('kubernetes.Semver')

const s = stringType

/** A member function of one type: `getHost` of a URL has the id `url_get_host`. */
const getter = (name: string, id: string, type: CelType, result: CelType): FunctionDeclaration =>
  declare(name, member(id, [type], result))

export const urlFunctions: readonly FunctionDeclaration[] = [
  declare('url', overload('string_to_url', [s], urlType)),
  getter('getScheme', 'url_get_scheme', urlType, s),
  getter('getHost', 'url_get_host', urlType, s),
  getter('getHostname', 'url_get_hostname', urlType, s),
  getter('getPort', 'url_get_port', urlType, s),
  getter('getEscapedPath', 'url_get_escaped_path', urlType, s),
  getter('getQuery', 'url_get_query', urlType, mapOf(s, listOf(s))),
  declare('isURL', overload('is_url_string', [s], boolType)),
]

const q = quantityType

export const quantityFunctions: readonly FunctionDeclaration[] = [
  declare('quantity', overload('string_to_quantity', [s], q)),
  declare('isQuantity', overload('is_quantity_string', [s], boolType)),
  declare('sign', overload('quantity_sign', [q], intType)),
  declare('isGreaterThan', member('quantity_is_greater_than', [q, q], boolType)),
  declare('isLessThan', member('quantity_is_less_than', [q, q], boolType)),
  declare('compareTo', member('quantity_compare_to', [q, q], intType)),
  getter('asApproximateFloat', 'quantity_get_float', q, doubleType),
  getter('asInteger', 'quantity_get_int', q, intType),
  getter('isInteger', 'quantity_is_integer', q, boolType),
  declare('add', member('quantity_add', [q, q], q), member('quantity_add_int', [q, intType], q)),
  declare('sub', member('quantity_sub', [q, q], q), member('quantity_sub_int', [q, intType], q)),
]

export const ipFunctions: readonly FunctionDeclaration[] = [
  declare('ip', overload('string_to_ip', [s], ipType)),
  getter('family', 'ip_family', ipType, intType),
  declare('ip.isCanonical', overload('ip_is_canonical', [s], boolType)),
  getter('isUnspecified', 'ip_is_unspecified', ipType, boolType),
  getter('isLoopback', 'ip_is_loopback', ipType, boolType),
  getter('isLinkLocalMulticast', 'ip_is_link_local_multicast', ipType, boolType),
  getter('isLinkLocalUnicast', 'ip_is_link_local_unicast', ipType, boolType),
  getter('isGlobalUnicast', 'ip_is_global_unicast', ipType, boolType),
  declare('isIP', overload('is_ip', [s], boolType)),
  declare('string', overload('ip_to_string', [ipType], s)),
]

export const cidrFunctions: readonly FunctionDeclaration[] = [
  declare('cidr', overload('string_to_cidr', [s], cidrType)),
  declare(
    'containsIP',
    member('cidr_contains_ip_string', [cidrType, s], boolType),
    member('cidr_contains_ip_ip', [cidrType, ipType], boolType),
  ),
  declare(
    'containsCIDR',
    member('cidr_contains_cidr_string', [cidrType, s], boolType),
    member('cidr_contains_cidr', [cidrType, cidrType], boolType),
  ),
  getter('ip', 'cidr_ip', cidrType, ipType),
  getter('prefixLength', 'cidr_prefix_length', cidrType, intType),
  getter('masked', 'cidr_masked', cidrType, cidrType),
  declare('isCIDR', overload('is_cidr', [s], boolType)),
  declare('string', overload('cidr_to_string', [cidrType], s)),
]

/** `format.dns1123Label()` and the other formats with a name. */
const formatNames: readonly string[] = [
  'dns1123Label',
  'dns1123Subdomain',
  'dns1035Label',
  'qualifiedName',
  'dns1123LabelPrefix',
  'dns1123SubdomainPrefix',
  'dns1035LabelPrefix',
  'labelValue',
  'uri',
  'uuid',
  'byte',
  'date',
  'datetime',
]

export const formatFunctions: readonly FunctionDeclaration[] = [
  declare('validate', member('format-validate', [formatType, s], optionalOf(listOf(s)))),
  declare('format.named', overload('format-named', [s], optionalOf(formatType))),
  ...formatNames.map((name) =>
    declare(`format.${name}`, overload(`format.${name}`, [], formatType)),
  ),
]

const v = semverType

export const semverFunctions: readonly FunctionDeclaration[] = [
  declare(
    'semver',
    overload('string_to_semver', [s], v),
    overload('string_bool_to_semver', [s, boolType], v),
  ),
  declare(
    'isSemver',
    overload('is_semver_string', [s], boolType),
    overload('is_semver_string_bool', [s, boolType], boolType),
  ),
  declare('isGreaterThan', member('semver_is_greater_than', [v, v], boolType)),
  declare('isLessThan', member('semver_is_less_than', [v, v], boolType)),
  declare('compareTo', member('semver_compare_to', [v, v], intType)),
  getter('major', 'semver_major', v, intType),
  getter('minor', 'semver_minor', v, intType),
  getter('patch', 'semver_patch', v, intType),
]

/** For mutating admission policies. */
export const jsonPatchFunctions: readonly FunctionDeclaration[] = [
  declare('jsonpatch.escapeKey', overload('string_jsonpatch_escapeKey_string', [s], s)),
]
