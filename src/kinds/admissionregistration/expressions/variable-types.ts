/**
 * The types of the variables that expressions of admission see: the request, the namespace, and
 * variables of a policy.
 */
import { change, type Release } from '#api/releases/change.ts'
import {
  boolType,
  type CelType,
  dynType,
  intType,
  listOf,
  mapOf,
  objectType,
  stringType,
  timestampType,
} from '#cel/cel-type.ts'
import { authorizerType, resourceCheckType } from '#cel/declarations/authorizer.ts'

type Fields = Readonly<Record<string, CelType>>

const s = stringType
const texts = listOf(s)
const textMap = mapOf(s, s)
const kindType = objectType('kubernetes.GroupVersionKind')
const resourceType = objectType('kubernetes.GroupVersionResource')
const userType = objectType('kubernetes.UserInfo')
const conditionType = objectType('kubernetes.NamespaceCondition')

const requestType = objectType('kubernetes.AdmissionRequest')
const namespaceType = objectType('kubernetes.Namespace')
/** Its fields are the variables of the policy. */
export const variablesType = objectType('kubernetes.variables')

/** The fields of each object type. */
const objects: Readonly<Record<string, Fields>> = {
  'kubernetes.GroupVersionKind': { group: s, version: s, kind: s },
  'kubernetes.GroupVersionResource': { group: s, version: s, resource: s },
  'kubernetes.UserInfo': { username: s, uid: s, groups: texts, extra: mapOf(s, texts) },
  'kubernetes.AdmissionRequest': {
    kind: kindType,
    resource: resourceType,
    subResource: s,
    requestKind: kindType,
    requestResource: resourceType,
    requestSubResource: s,
    name: s,
    namespace: s,
    operation: s,
    userInfo: userType,
    dryRun: boolType,
    options: dynType,
  },
  'kubernetes.NamespaceSpec': { finalizers: texts },
  'kubernetes.NamespaceCondition': {
    status: s,
    type: s,
    lastTransitionTime: timestampType,
    message: s,
    reason: s,
  },
  'kubernetes.NamespaceStatus': { conditions: listOf(conditionType), phase: s },
  'kubernetes.NamespaceMetadata': {
    name: s,
    generateName: s,
    namespace: s,
    labels: textMap,
    annotations: textMap,
    UID: s,
    creationTimestamp: timestampType,
    deletionGracePeriodSeconds: intType,
    deletionTimestamp: timestampType,
    generation: intType,
    resourceVersion: s,
    finalizers: texts,
  },
  'kubernetes.Namespace': {
    metadata: objectType('kubernetes.NamespaceMetadata'),
    spec: objectType('kubernetes.NamespaceSpec'),
    status: objectType('kubernetes.NamespaceStatus'),
  },
}

export const isRequestType = (name: string): boolean => Object.hasOwn(objects, name)

export const requestFieldType = (typeName: string, field: string): CelType | undefined => {
  const fields = isRequestType(typeName) ? objects[typeName] : undefined
  return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined
}

/** Which variables an expression can read. */
export interface VariableOptions {
  readonly params: boolean
  readonly authorizer: boolean
  /** Whether the policy defines variables. */
  readonly composes: boolean
}

const showsNamespace = change('expressions of admission policies read namespaceObject', {
  since: 28,
})

export function variableTypes(
  { params, authorizer, composes }: VariableOptions,
  release: Release,
): ReadonlyMap<string, CelType> {
  const types = new Map([
    ['object', dynType],
    ['oldObject', dynType],
    ['request', requestType],
  ])
  if (release.has(showsNamespace)) types.set('namespaceObject', namespaceType)
  if (params) types.set('params', dynType)
  if (authorizer) {
    types.set('authorizer', authorizerType)
    types.set('authorizer.requestResource', resourceCheckType)
  }
  if (composes) types.set('variables', variablesType)
  return types
}

const plainKinds: ReadonlySet<CelType['kind']> = new Set([
  ...(['any', 'bool', 'bytes', 'double', 'duration', 'int', 'null'] as const),
  ...(['string', 'timestamp', 'uint'] as const),
])

/**
 * The type that a variable of a policy has for other expressions: that of its expression, if it is
 * a simple one.
 */
export function variableType(type: CelType | undefined): CelType {
  if (type === undefined || type.nullable) return dynType
  if (plainKinds.has(type.kind)) return type
  const [first, second] = type.parameters
  if (type.kind === 'list') return listOf(variableType(first))
  if (type.kind === 'map') return mapOf(variableType(first), variableType(second))
  return dynType
}
