/**
 * Functions of the variable `authorizer`:
 * `authorizer.group('apps').resource('deployments').check('create').allowed()`.
 */
import {
  boolType,
  declare,
  type FunctionDeclaration,
  member,
  objectType,
  stringType,
} from '#cel/cel-type.ts'

export const authorizerType = objectType('kubernetes.authorization.Authorizer')
export const pathCheckType = objectType('kubernetes.authorization.PathCheck')
export const groupCheckType = objectType('kubernetes.authorization.GroupCheck')
export const resourceCheckType = objectType('kubernetes.authorization.ResourceCheck')
export const decisionType = objectType('kubernetes.authorization.Decision')

const s = stringType
const resource = resourceCheckType

export const authorizerFunctions: readonly FunctionDeclaration[] = [
  declare('path', member('authorizer_path', [authorizerType, s], pathCheckType)),
  declare('group', member('authorizer_group', [authorizerType, s], groupCheckType)),
  declare(
    'serviceAccount',
    member('authorizer_serviceaccount', [authorizerType, s, s], authorizerType),
  ),
  declare('resource', member('groupcheck_resource', [groupCheckType, s], resource)),
  declare('subresource', member('resourcecheck_subresource', [resource, s], resource)),
  declare('namespace', member('resourcecheck_namespace', [resource, s], resource)),
  declare('name', member('resourcecheck_name', [resource, s], resource)),
  declare(
    'check',
    member('pathcheck_check', [pathCheckType, s], decisionType),
    member('resourcecheck_check', [resource, s], decisionType),
  ),
  declare('errored', member('decision_errored', [decisionType], boolType)),
  declare('error', member('decision_error', [decisionType], s)),
  declare('allowed', member('decision_allowed', [decisionType], boolType)),
  declare('reason', member('decision_reason', [decisionType], s)),
]

export const authorizerSelectorFunctions: readonly FunctionDeclaration[] = [
  declare('fieldSelector', member('authorizer_fieldselector', [resource, s], resource)),
  declare('labelSelector', member('authorizer_labelselector', [resource, s], resource)),
]
