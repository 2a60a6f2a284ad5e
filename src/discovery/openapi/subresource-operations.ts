/**
 * Describes the operations of a subresource. It is a view of the object (status, scale), an action
 * on it (eviction, binding), a stream of text (log) or a connection (exec, proxy).
 */
import { groupOf, versionOf } from '#api/api-version.ts'
import type { Subresource } from '#kinds/kind.ts'
import { type KindScope, operation, patchParameters, patchShape } from './kind-scope.ts'
import { title } from './names.ts'
import type { Method, OpenApiOperation } from './operation.ts'
import { inPath, metaOptions, optionsParameters, type Parameter } from './parameters.ts'
import { definitionName, metaType } from './source.ts'

interface SubresourceScope extends KindScope {
  readonly sub: Subresource
  readonly path: string
  readonly rest: string
  readonly parameters: readonly Parameter[]
  /** The definition name of its kind. */
  readonly subType: string
}

export function subresourceOperations(scope: KindScope, sub: Subresource): OpenApiOperation[] {
  const [group, version] = [groupOf(sub.apiVersion), versionOf(sub.apiVersion)]
  const { kind } = scope
  const inner: SubresourceScope = {
    ...scope,
    // The paths of a custom kind's scale name the custom kind itself.
    gvk: scope.custom ? scope.gvk : { group, version, kind: sub.kind },
    sub,
    path: `${scope.collection}/{name}/${sub.name}`,
    rest: `${kind.namespaced ? 'Namespaced' : ''}${kind.kind}${title(sub.name)}`,
    parameters: [...scope.pathParameters, inPath('name')],
    subType: definitionName(scope.source, group, version, sub.kind),
  }
  if (sub.kind.endsWith('Options')) return connectOperations(inner)
  if (sub.name === 'log') return [logOperation(inner)]
  if (sub.verbs.has('create')) return [actOperation(inner)]
  return viewOperations(inner)
}

function viewOperations(scope: SubresourceScope): OpenApiOperation[] {
  const { sub, kind, source, parameters, subType } = scope
  const found: OpenApiOperation[] = []
  const of = `${sub.name} of one ${kind.kind}.`
  if (sub.verbs.has('get')) {
    found.push(
      operation(scope, scope.path, 'get', 'read', scope.rest, {
        action: 'get',
        description: `Reads the ${of}`,
        parameters: [...parameters, ...(scope.custom ? metaOptions(source, 'GetOptions') : [])],
        codes: [200],
        answer: subType,
      }),
    )
  }
  if (sub.verbs.has('update')) {
    found.push(
      operation(scope, scope.path, 'put', 'replace', scope.rest, {
        action: 'put',
        description: `Replaces the ${of}`,
        parameters: [...parameters, ...metaOptions(source, 'UpdateOptions')],
        body: { type: subType, required: true },
        codes: [200, 201],
        answer: subType,
      }),
    )
  }
  if (sub.verbs.has('patch')) {
    found.push(
      operation(scope, scope.path, 'patch', 'patch', scope.rest, {
        ...patchShape(scope),
        description: `Changes parts of the ${of}`,
        parameters: [...parameters, ...patchParameters(scope)],
        answer: subType,
      }),
    )
  }
  return found
}

function actOperation(scope: SubresourceScope): OpenApiOperation {
  const { sub, kind, source, subType } = scope
  return operation(scope, scope.path, 'post', 'create', scope.rest, {
    action: 'post',
    description: `Creates the ${sub.name} of one ${kind.kind}.`,
    parameters: [...scope.parameters, ...metaOptions(source, 'CreateOptions')],
    body: { type: subType, required: true },
    codes: [200, 201, 202],
    answer: sub.name === 'rollback' ? metaType('Status') : subType,
  })
}

function logOperation(scope: SubresourceScope): OpenApiOperation {
  const { source } = scope
  const options = source.facts.typeOf('io.k8s.api.core.v1.PodLogOptions', source.release)
  return operation(scope, scope.path, 'get', 'read', scope.rest, {
    action: 'get',
    description: 'Reads what a container of the pod has written.',
    produces: ['text/plain', ...scope.produces],
    parameters: [...scope.parameters, ...optionsParameters(options)],
    codes: [200],
    answer: 'string',
  })
}

const connecting: Readonly<Record<string, readonly Method[]>> = {
  get: ['get'],
  create: ['post'],
  update: ['put', 'head', 'options'],
  delete: ['delete'],
  patch: ['patch'],
}

function connectOperations(scope: SubresourceScope): OpenApiOperation[] {
  const { sub, kind, source } = scope
  const options = optionsParameters(source.facts.typeOf(scope.subType, source.release))
  const found: OpenApiOperation[] = []
  for (const verb of sub.verbs) {
    for (const method of connecting[verb] ?? []) {
      const connect = (
        path: string,
        suffix: string,
        more: readonly Parameter[],
      ): OpenApiOperation => ({
        ...operation(scope, path, method, 'connect', `${title(method)}${scope.rest}${suffix}`, {
          action: 'connect',
          description: `Connects to the ${sub.name} of one ${kind.kind}.`,
          consumes: ['*/*'],
          produces: ['*/*'],
          parameters: [],
          codes: [200],
          answer: 'string',
        }),
        parameters: [...scope.parameters, ...more, ...options],
      })
      found.push(connect(scope.path, '', []))
      if (sub.name === 'proxy') {
        found.push(connect(`${scope.path}/{path}`, 'WithPath', [inPath('path')]))
      }
    }
  }
  return found
}
