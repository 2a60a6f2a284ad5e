/**
 * A user who writes a policy or binding with parameters must be able to read the parameters.
 * Otherwise a policy could reveal objects that its author may not read. kube-apiserver checks this
 * during validation.
 */
import type { AdmissionPlugin, AdmissionRequest } from '#admission/admission.ts'
import type { Attributes, Authorizer } from '#access/authorize.ts'
import { isPrivileged, type User } from '#access/user.ts'
import { groupOf, versionOf } from '#api/api-version.ts'
import { forbidden } from '#api/field-error.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { invalidObject } from '#api/status-error.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'

export interface ParameterRights {
  readonly authorizer: Authorizer
  readonly kindNamed: (apiVersion: string, kind: string) => Kind | undefined
}

type Read = Pick<Attributes, 'verb' | 'group' | 'version' | 'resource' | 'namespace' | 'name'>

/** A read of the parameters, and the error if the user may not do it. */
interface Requirement {
  readonly read: Read
  readonly field: string
  readonly why: string
}

const group = 'admissionregistration.k8s.io'

export function parameterRights(parts: ParameterRights): AdmissionPlugin {
  return {
    name: 'PolicyParameters',
    validate(request, reader) {
      const { kind, object, operation, subresource, user } = request
      if (operation !== 'CREATE' && operation !== 'UPDATE') return
      if (object === undefined || subresource !== '' || isPrivileged(user)) return
      if (kind.group !== group) return
      return check(parts, request, object, reader)
    },
  }
}

async function check(
  parts: ParameterRights,
  request: AdmissionRequest,
  object: KubeObject,
  reader: ObjectReader,
): Promise<void> {
  const { kind, user, old } = request
  const requirement = kind.kind.endsWith('Binding')
    ? await ofBinding(parts, kind, user, object, reader)
    : ofPolicy(parts, user, object, old)
  if (requirement === undefined) return
  const { read, field, why } = requirement
  const { decision } = await parts.authorizer.authorize({
    ...read,
    user,
    isResource: true,
    subresource: '',
    path: '',
  })
  if (decision === 'allow') return
  throw invalidObject({ group, kind: kind.kind }, object.metadata.name ?? '', [
    forbidden(`spec.${field}`, why),
  ])
}

/** All objects of all kinds, because the kind of the parameters is not known. */
const anything = { group: '*', version: '*', resource: '*' }

function resourceOf({ kindNamed }: ParameterRights, { apiVersion = '', kind = '' }: Loose) {
  const resource = kindNamed(apiVersion, kind)?.plural
  return { group: groupOf(apiVersion), version: versionOf(apiVersion), resource: resource ?? '*' }
}

function ofPolicy(
  parts: ParameterRights,
  user: User,
  { spec }: KubeObject,
  old: KubeObject | undefined,
): Requirement | undefined {
  const paramKind: Loose | undefined = spec?.paramKind
  if (!paramKind || (old !== undefined && sameJson(paramKind, old.spec?.paramKind)))
    return undefined
  const { apiVersion, kind } = paramKind
  return {
    read: { verb: 'get', namespace: '*', name: '*', ...resourceOf(parts, paramKind) },
    field: 'paramKind',
    why: `user ${goUser(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`,
  }
}

async function ofBinding(
  parts: ParameterRights,
  { plural }: Kind,
  user: User,
  { spec }: KubeObject,
  reader: ObjectReader,
): Promise<Requirement | undefined> {
  const ref: Loose | undefined = spec?.paramRef
  if (!ref) return undefined
  const { name = '', namespace = '' } = ref
  const verb = name === '' ? 'list' : 'get'
  const policies = plural.replace(/ybindings$/, 'ies')
  const policy = await reader.get(group, policies, '', spec.policyName)
  const paramKind: Loose | undefined = policy?.spec?.paramKind
  const resource = paramKind ? resourceOf(parts, paramKind) : anything
  const everywhere = `user ${goUser(user)} does not have "${verb}" permission for all groups, versions and resources`
  return {
    read: { verb, namespace, name, ...resource },
    field: 'paramRef',
    why:
      policy === undefined
        ? `unable to get policy ${spec.policyName} to determine minimum required permissions and ${everywhere}`
        : paramKind && resource.resource === '*'
          ? `unable to resolve paramKind &{${paramKind.apiVersion} ${paramKind.kind}} to determine minimum required permissions and ${everywhere}`
          : `user ${goUser(user)} does not have "${verb}" permission on the object referenced by paramRef`,
  }
}

/** A user as Go prints the struct. */
function goUser({ name, uid, groups, extra }: User): string {
  const members = Object.entries(extra)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${key}:[${values.join(' ')}]`)
  return `&{${name} ${uid} [${groups.join(' ')}] map[${members.join(' ')}]}`
}
