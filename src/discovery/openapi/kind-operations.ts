/** The OpenAPI operations of one kind: the id, parameters and responses of each verb. */
import { change, releaseOf } from '#api/releases/change.ts'
import { negotiatedBy } from './group-operations.ts'
import { type KindScope, operation, patchParameters, patchShape } from './kind-scope.ts'
import type { DescribedKind } from './marked-kind.ts'
import { basePath } from './names.ts'
import type { Method, OpenApiOperation } from './operation.ts'
import { inPath, metaOptions, type Parameter } from './parameters.ts'
import { definitionName, isCustom, metaType, type OpenApiSource } from './source.ts'
import { subresourceOperations } from './subresource-operations.ts'

const text = ['application/json', 'application/yaml']
const streamTypes = ['application/json', 'application/vnd.kubernetes.protobuf'].map(
  (type) => `${type};stream=watch`,
)
const streamsBy = ({ servesCbor }: OpenApiSource): readonly string[] =>
  servesCbor ? [...streamTypes, 'application/cbor-seq'] : streamTypes
const returnsDeletedObjects = change('OpenAPI says which deletions return the object', {
  since: 18,
})
const deletionsCannotWatch = change(
  'OpenAPI does not offer to watch in a deletion of a collection',
  { since: 19 },
)
const describesExport = change('OpenAPI describes the parameter export', { until: 20 })

export function kindOperations(source: OpenApiSource, kind: DescribedKind): OpenApiOperation[] {
  const { group, version, plural, namespaced } = kind
  const custom = isCustom(source, kind)
  const root = basePath(group, version)
  const scope: KindScope = {
    source,
    kind,
    custom,
    gvk: { group, version, kind: kind.kind },
    type: definitionName(source, group, version, kind.kind),
    collection: namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`,
    pathParameters: namespaced ? [inPath('namespace')] : [],
    produces: custom ? text : negotiatedBy(source),
    consumes: custom ? text : ['*/*'],
  }
  const operations = [...collectionOperations(scope), ...objectOperations(scope)]
  for (const one of kind.subresources.values()) {
    operations.push(...subresourceOperations(scope, one))
  }
  if (kind.verbs.has('watch') && !custom) operations.push(...watchOperations(scope, root))
  return operations
}

const namespacedName = (scope: KindScope) =>
  `${scope.kind.namespaced ? 'Namespaced' : ''}${scope.kind.kind}`

function listOperation(
  scope: KindScope,
  path: string,
  rest: string,
  parameters: readonly Parameter[],
): OpenApiOperation {
  const { source, kind } = scope
  return operation(scope, path, 'get', 'list', rest, {
    action: 'list',
    description: `Lists or watches ${kind.kind} objects.`,
    produces: scope.custom ? text : [...scope.produces, ...streamsBy(source)],
    parameters: [...parameters, ...metaOptions(source, 'ListOptions')],
    codes: [200],
    answer: definitionName(source, kind.group, kind.version, kind.listKind),
  })
}

function collectionOperations(scope: KindScope): OpenApiOperation[] {
  const { kind, source, pathParameters, collection, type } = scope
  const found: OpenApiOperation[] = []
  const root = basePath(kind.group, kind.version)
  if (kind.verbs.has('list')) {
    if (kind.namespaced) {
      found.push(listOperation(scope, `${root}/${kind.plural}`, `${kind.kind}ForAllNamespaces`, []))
    }
    found.push(listOperation(scope, collection, namespacedName(scope), pathParameters))
  }
  if (kind.verbs.has('create')) {
    found.push(
      operation(scope, collection, 'post', 'create', namespacedName(scope), {
        action: 'post',
        description: `Creates one ${kind.kind}.`,
        parameters: [...pathParameters, ...metaOptions(source, 'CreateOptions')],
        body: { type, required: true },
        codes: [200, 201, 202],
        answer: type,
      }),
    )
  }
  if (kind.verbs.has('deletecollection')) {
    found.push(
      operation(scope, collection, 'delete', 'delete', `Collection${namespacedName(scope)}`, {
        action: 'deletecollection',
        description: `Deletes every ${kind.kind} that matches.`,
        parameters: [...pathParameters, ...deleteCollectionParameters(scope)],
        ...(scope.custom ? undefined : { body: deleteBody }),
        codes: [200],
        answer: metaType('Status'),
      }),
    )
  }
  return found
}

const deleteBody = { type: metaType('DeleteOptions'), required: false }

function deleteCollectionParameters({ source, custom }: KindScope): Parameter[] {
  const list = metaOptions(source, 'ListOptions')
  if (custom) return list
  const watching = new Set(['allowWatchBookmarks', 'watch'])
  const narrowed = releaseOf(source.release).has(deletionsCannotWatch)
  const kept = list.filter(({ name }) => !narrowed || !watching.has(name))
  return [...kept, ...metaOptions(source, 'DeleteOptions')]
}

function objectOperations(scope: KindScope): OpenApiOperation[] {
  const { kind, source, type } = scope
  const path = `${scope.collection}/{name}`
  const parameters = [...scope.pathParameters, inPath('name')]
  const found: OpenApiOperation[] = []
  const add = (method: Method, verb: string, more: Parameters<typeof operation>[5]): number =>
    found.push(operation(scope, path, method, verb, namespacedName(scope), more))
  if (kind.verbs.has('get')) {
    add('get', 'read', {
      action: 'get',
      description: `Reads one ${kind.kind}.`,
      parameters: [...parameters, ...readParameters(scope)],
      codes: [200],
      answer: type,
    })
  }
  if (kind.verbs.has('update')) {
    add('put', 'replace', {
      action: 'put',
      description: `Replaces one ${kind.kind}.`,
      parameters: [...parameters, ...metaOptions(source, 'UpdateOptions')],
      body: { type, required: true },
      codes: [200, 201],
      answer: type,
    })
  }
  if (kind.verbs.has('patch')) {
    add('patch', 'patch', {
      ...patchShape(scope),
      description: `Changes parts of one ${kind.kind}.`,
      parameters: [...parameters, ...patchParameters(scope)],
      answer: type,
    })
  }
  if (kind.verbs.has('delete')) {
    add('delete', 'delete', {
      action: 'delete',
      description: `Deletes one ${kind.kind}.`,
      parameters: [...parameters, ...metaOptions(source, 'DeleteOptions')],
      body: deleteBody,
      codes: [200, 202],
      answer: returnsDeleted(scope) ? type : metaType('Status'),
    })
  }
  return found
}

function readParameters({ source, custom, kind }: KindScope): Parameter[] {
  if (custom) return metaOptions(source, 'GetOptions')
  // kube-apiserver wraps the RBAC storages, and the wrapper does not support export.
  const wrapped = kind.group === 'rbac.authorization.k8s.io'
  const exports = releaseOf(source.release).has(describesExport) && kind.verbs.has('watch')
  return exports && !wrapped ? metaOptions(source, 'ExportOptions') : []
}

function returnsDeleted({ source, kind, custom }: KindScope): boolean {
  if (custom) return false
  // kube-apiserver wraps the deletion of a namespace, and describes the wrapper's response as a
  // Status.
  if (!releaseOf(source.release).has(returnsDeletedObjects) || kind.plural === 'namespaces')
    return false
  return source.facts
    .resourcesOf(source.release)
    .some(
      (fact) =>
        fact.returnsDeleted &&
        fact.group === kind.group &&
        fact.version === kind.version &&
        fact.plural === kind.plural,
    )
}

function watchOperations(scope: KindScope, root: string): OpenApiOperation[] {
  const { kind, source } = scope
  const options = metaOptions(source, 'ListOptions')
  const watch = (path: string, rest: string, action: string, parameters: readonly Parameter[]) =>
    operation(scope, path, 'get', 'watch', rest, {
      action,
      description: `Watches ${kind.kind} objects; listing with watch=true is the newer form.`,
      produces: [...scope.produces, ...streamsBy(source)],
      parameters: [...parameters, ...options],
      codes: [200],
      answer: metaType('WatchEvent'),
    })
  const path = scope.collection.replace(root, `${root}/watch`)
  const name = namespacedName(scope)
  const found = [
    watch(path, `${name}List`, 'watchlist', scope.pathParameters),
    watch(`${path}/{name}`, name, 'watch', [...scope.pathParameters, inPath('name')]),
  ]
  if (kind.namespaced) {
    const everywhere = `${root}/watch/${kind.plural}`
    found.push(watch(everywhere, `${kind.kind}ListForAllNamespaces`, 'watchlist', []))
  }
  return found
}
