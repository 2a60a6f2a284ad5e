/**
 * Random admission policies with their bindings, and requests that meet them. Expressions are built
 * from templates: `{bool}` is a random part of that type.
 */
import type { Random } from './random.ts'
import type { Step } from './two-servers.ts'

export type Body = Record<string, unknown>

const group = '/apis/admissionregistration.k8s.io/v1'

const leaves: Readonly<Record<string, readonly string[]>> = {
  bool: [
    ...['true', 'false', 'has(object.data)', 'has(object.spec)', 'has(object.metadata.labels)'],
    ...['object == null', 'oldObject == null', 'object != oldObject', 'request.dryRun'],
    ...['has(request.subResource)', 'has(namespaceObject.metadata.labels)', 'variables.b'],
    ...["authorizer.group('').resource('pods').check('get').allowed()"],
    ...["authorizer.requestResource.check('delete').allowed()"],
    ...["authorizer.path('/healthz').check('get').allowed()"],
    ...['object.spec.hostNetwork', 'object.data.nope', 'object.nope.x', 'params == null'],
    ...['type(object.metadata) == map', 'object.data.a', 'dyn(object.metadata.name) == 1'],
    ...['object.data == 1', '1 in object.data', "'a' in object.data", '1u in object.spec'],
    ...['object.spec == oldObject.spec', 'object.data == oldObject.data', 'object.spec == 1'],
    ...["object.metadata.labels == {'app': 'a'}", 'object.metadata.labels == oldObject.metadata'],
    ...['object.metadata.finalizers == 1', "object.metadata.finalizers[0u] == 'a'"],
    ...['object.spec.containers == oldObject.spec.containers', 'dyn(request.userInfo) == 1'],
    ...['object.spec.template.spec == oldObject.spec.template.spec', 'params == 1'],
    ...['object.spec.containers[0].resources == {}', 'dyn(namespaceObject).metadata == 1'],
  ],
  string: [
    ...["'a'", "''", "'b c'", 'object.metadata.name', 'object.metadata.namespace', 'object.kind'],
    ...['object.data.a', "object.data['b']", 'object.metadata.labels.app', 'oldObject.data.a'],
    ...['request.operation', 'request.name', 'request.namespace', 'request.kind.kind'],
    ...['request.resource.resource', 'request.resource.version', 'request.requestKind.version'],
    ...['request.userInfo.username', 'request.subResource', 'request.options.kind'],
    ...['namespaceObject.metadata.name', "namespaceObject.metadata.labels['fuzz']"],
    ...['variables.s', 'params.data.limit', 'params.metadata.name', 'string(object.spec.replicas)'],
    ...['object.spec.containers[0].image', 'object.spec.type', 'object.apiVersion'],
    ...['object.metadata.?uid.orValue("none")', 'object.metadata.generateName'],
  ],
  int: [
    ...[
      '0',
      '1',
      '3',
      '100',
      'size(object.data)',
      'object.spec.replicas',
      'oldObject.spec.replicas',
    ],
    ...['size(object.metadata.name)', 'size(request.userInfo.groups)', 'variables.i'],
    ...['int(params.data.limit)', 'object.spec.ports[0].port', 'object.metadata.generation'],
    ...['size(object.spec.containers)', 'object.spec.template.spec.containers.size()'],
    ...['object.spec.terminationGracePeriodSeconds', 'int(object.data.a)'],
  ],
  list: [
    ...['[]', "['a', 'b']", 'request.userInfo.groups', 'object.metadata.finalizers'],
    ...['object.spec.containers.map(c, c.name)', 'object.data.map(k, k)', 'variables.l'],
    ...['object.metadata.labels.map(k, object.metadata.labels[k])'],
  ],
}

const templates: Readonly<Record<string, readonly string[]>> = {
  bool: [
    ...['{bool} && {bool}', '{bool} || {bool}', '!{bool}', '({bool} ? {bool} : {bool})'],
    ...['{string} == {string}', '{string} != {string}', '{int} < {int}', '{int} == {int}'],
    ...['{string}.startsWith({string})', "{string}.matches('^[a-z]')", '{string} in {list}'],
    ...['{list}.all(x, x != {string})', '{list}.exists(x, x == {string})', '{list} == {list}'],
    ...['{string} < {string}', '{int} >= {int}', "quantity('1').isLessThan(quantity({string}))"],
    ...['object.data.all(k, object.data[k] != {string})', 'isQuantity({string})'],
    ...['object.spec.containers.all(c, c.image.startsWith({string}))'],
    ...["object.spec.containers.exists(c, has(c.resources.limits) && 'cpu' in c.resources.limits)"],
    ...['object.metadata.labels.exists(k, k == {string})', 'dyn({string}) == {int}'],
  ],
  string: [
    ...['{string} + {string}', 'string({int})', '({bool} ? {string} : {string})'],
    ...['{string}.lowerAscii()', "{list}.join(',')", "'%s-%d'.format([{string}, {int}])"],
    ...['{string}.replace({string}, {string})', '{list}[0]', 'string({bool})'],
  ],
  int: ['{int} + {int}', '{int} * {int}', 'size({string})', 'size({list})', '{int} / {int}'],
  list: ['{list} + {list}', '{list}.filter(x, x != {string})', '{list}.sort()', '[{string}]'],
}

/** Configurations that a mutation can apply, for objects of any kind and of one kind. */
const configurations = [
  "Object{metadata: Object.metadata{labels: {'added': {string}}}}",
  "Object{metadata: Object.metadata{annotations: {'from/policy': {string}}}}",
  'Object{data: {"added": {string}}}',
  'Object{data: Object.data{extra: {string}}}',
  'Object{spec: Object.spec{replicas: {int}}}',
  'Object{spec: Object.spec{hostNetwork: {bool}}}',
  'Object{spec: Object.spec{nodeSelector: {"a": {string}}}}',
  'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", image: {string}}]}}',
  'Object{spec: Object.spec{containers: [Object.spec.containers{name: {string}, image: "i"}]}}',
  'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", args: ["x"]}]}}',
  'Object{spec: Object.spec{type: {string}}}',
  'Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: {string}}]}}',
  'Object{metadata: Object.metadata{name: {string}}}',
  'Object{metadata: Object.metadata{finalizers: ["a.b/c"]}}',
  'Object{nope: {string}}',
  'Object{spec: {"replicas": {int}}}',
  'Object{spec: Object.spec{strategy: Object.spec.strategy{type: {string}}}}',
  'Object{}',
  '({bool} ? Object{metadata: Object.metadata{labels: {"if": {string}}}} : Object{})',
]

const operations = [
  "JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': {string}}}",
  "JSONPatch{op: 'add', path: '/metadata/labels/b', value: {string}}",
  "JSONPatch{op: 'replace', path: '/data/a', value: {string}}",
  "JSONPatch{op: 'remove', path: '/data/b'}",
  "JSONPatch{op: 'test', path: '/data/a', value: {string}}",
  "JSONPatch{op: 'copy', from: '/data/a', path: '/data/z'}",
  "JSONPatch{op: 'move', from: '/data/b', path: '/data/y'}",
  "JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey({string}), value: 'v'}",
  "JSONPatch{op: 'replace', path: '/spec/replicas', value: {int}}",
  "JSONPatch{op: 'add', path: '/spec/nope', value: {int}}",
  "JSONPatch{op: 'add', path: '/metadata/annotations', value: {'n': {string}}}",
  "JSONPatch{op: 'replace', path: '/spec/containers/0/image', value: {string}}",
  "JSONPatch{op: 'add', path: '/spec/containers/-', value: Object.spec.containers{name: {string}, image: 'j'}}",
  'JSONPatch{op: {string}, path: {string}}',
  "JSONPatch{op: 'add', path: '/spec/replicas', value: {string}}",
  "JSONPatch{op: 'add', path: '/metadata/annotations', value: object.metadata.labels}",
  "JSONPatch{op: 'add', path: '/metadata/annotations', value: namespaceObject.metadata.labels}",
  "JSONPatch{op: 'add', path: '/data', value: params.data}",
  "JSONPatch{op: 'add', path: '/metadata/labels/k', value: string(has(params.kind))}",
]

const kinds = [
  { apiGroups: [''], resources: ['configmaps'] },
  { apiGroups: [''], resources: ['configmaps', 'secrets'] },
  { apiGroups: ['apps'], resources: ['deployments'] },
  { apiGroups: ['apps'], resources: ['deployments/scale', 'deployments'] },
  { apiGroups: [''], resources: ['pods', 'services'] },
  { apiGroups: ['*'], resources: ['*'] },
  { apiGroups: ['', 'apps'], resources: ['*'] },
  { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'] },
] as const

/** Objects of this kind can hold any data. */
const parameterKind = { apiVersion: 'apps/v1', kind: 'ControllerRevision' }

/**
 * A policy that matches nothing. kube-apiserver never sees changes of a kind of parameters again
 * after the last policy with this kind was deleted: so one stays.
 */
export const keptPolicy = (): Step[] => {
  const metadata = { name: 'policies-fuzz-kept' }
  const rule = { apiGroups: ['none'], apiVersions: ['v1'], operations: ['*'], resources: ['none'] }
  const spec = {
    paramKind: parameterKind,
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: 'true' }],
  }
  const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{}]' } }]
  return ['validating', 'mutating'].flatMap((type) => [
    {
      method: 'POST',
      path: `${group}/${type}admissionpolicies`,
      body: {
        metadata,
        spec:
          type === 'validating'
            ? spec
            : {
                ...spec,
                validations: undefined,
                matchConstraints: { resourceRules: [{ ...rule, operations: ['CREATE'] }] },
                reinvocationPolicy: 'Never',
                mutations,
              },
      },
    },
    {
      method: 'POST',
      path: `${group}/${type}admissionpolicybindings`,
      body: {
        metadata,
        spec: {
          policyName: metadata.name,
          ...(type === 'validating' && { validationActions: ['Deny'] }),
        },
      },
    },
  ])
}

export class RandomAdmission {
  readonly #random: Random
  readonly #id: string
  /** What the expression at hand cannot read. */
  #unknown: RegExp = /^$/

  constructor(random: Random, id: string) {
    this.#random = random
    this.#id = id
  }

  #fill(template: string, depth: number): string {
    return template.replace(/\{(bool|string|int|list)\}/g, (_, type: string) =>
      this.#expression(type, depth - 1),
    )
  }

  #expression(type: string, depth: number): string {
    const random = this.#random
    const wanted = random.chance(0.02) ? random.pick(Object.keys(leaves)) : type
    const isLeaf = depth <= 0 || random.chance(0.35)
    const all = (isLeaf ? leaves : templates)[wanted] as readonly string[]
    const known = random.chance(0.01) ? all : all.filter((one) => !this.#unknown.test(one))
    const made = random.pick(known)
    return isLeaf ? made : this.#fill(made, depth)
  }

  /** Most policies guard what they read. */
  #rule(type: string): string {
    const made = this.#expression(type, 2)
    if (type !== 'bool' || !this.#random.chance(0.3)) return made
    return `!has(object.data) || ${made}`
  }

  #constraints(): Body {
    const random = this.#random
    const versions = random.pick([['*'], ['v1'], ['v1', 'v2'], ['v1'], ['v2']])
    const rule: Body = {
      ...random.pick(kinds),
      apiVersions: versions,
      operations: random.pick([['*'], ['CREATE'], ['CREATE', 'UPDATE'], ['UPDATE'], ['DELETE']]),
    }
    if (random.chance(0.1)) rule.scope = random.pick(['Namespaced', 'Cluster', '*'])
    if (random.chance(0.1)) rule.resourceNames = ['one']
    const made: Body = {
      resourceRules: [rule],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': this.#id } },
    }
    if (random.chance(0.2)) made.objectSelector = { matchLabels: { app: 'web' } }
    if (random.chance(0.2)) made.matchPolicy = random.pick(['Exact', 'Equivalent'])
    if (random.chance(0.1)) made.excludeResourceRules = [{ ...rule, resources: ['secrets'] }]
    return made
  }

  #head(): Body {
    const random = this.#random
    const spec: Body = { matchConstraints: this.#constraints() }
    if (random.chance(0.6)) spec.failurePolicy = random.pick(['Fail', 'Ignore'])
    if (random.chance(0.4)) spec.paramKind = parameterKind
    const params = spec.paramKind === undefined ? '|params' : ''
    const types = Object.entries({ s: 'string', i: 'int', b: 'bool', l: 'list' })
    spec.variables = types.map(([name, type], i) => {
      const later = types.slice(i).map(([one]) => `variables\\.${one}\\b`)
      this.#unknown = new RegExp(`${later.join('|')}${params}`)
      return { name, expression: this.#rule(type) }
    })
    this.#unknown = new RegExp(`^$${params}`)
    if (random.chance(0.25))
      spec.matchConditions = [{ name: 'when', expression: this.#rule('bool') }]
    return spec
  }

  #binding(policy: string, validating: boolean): Body {
    const random = this.#random
    const spec: Body = { policyName: policy }
    if (validating)
      spec.validationActions = random.pick([
        ['Deny'],
        ['Warn'],
        ['Deny', 'Audit'],
        ['Warn', 'Audit'],
      ])
    if (random.chance(0.4))
      spec.paramRef = {
        ...random.pick([
          { name: 'limits' },
          { name: 'gone' },
          { selector: { matchLabels: { p: 'x' } } },
        ]),
        ...random.pick([{ namespace: this.#id }, {}]),
        parameterNotFoundAction: random.pick(['Allow', 'Deny']),
      }
    if (random.chance(0.15)) spec.matchResources = this.#constraints()
    return spec
  }

  #validating(): Body {
    const random = this.#random
    const spec = this.#head()
    spec.validations = Array.from({ length: 1 + random.below(3) }, () => {
      const validation: Body = { expression: this.#rule('bool') }
      if (random.chance(0.3)) validation.message = random.pick(['no', ' spaced ', 'a message'])
      if (random.chance(0.3)) {
        const before = this.#unknown
        this.#unknown = new RegExp(`${before.source}|authorizer`)
        validation.messageExpression = this.#rule('string')
        this.#unknown = before
      }
      if (random.chance(0.2))
        validation.reason = random.pick([
          'Forbidden',
          'Invalid',
          'RequestEntityTooLarge',
          'Unauthorized',
        ])
      return validation
    })
    if (random.chance(0.2))
      spec.auditAnnotations = [{ key: 'k', valueExpression: this.#rule('string') }]
    return spec
  }

  #mutating(): Body {
    const random = this.#random
    const spec = this.#head()
    spec.reinvocationPolicy = random.pick(['Never', 'IfNeeded'])
    ;(spec.matchConstraints as { resourceRules: Body[] }).resourceRules.forEach((rule) => {
      rule.operations = random.pick([['CREATE'], ['CREATE', 'UPDATE'], ['UPDATE']])
    })
    spec.mutations = Array.from({ length: 1 + random.below(2) }, () => {
      if (random.chance(0.55))
        return {
          patchType: 'ApplyConfiguration',
          applyConfiguration: { expression: this.#fill(random.pick(configurations), 2) },
        }
      const patches = Array.from({ length: 1 + random.below(2) }, () => random.pick(operations))
      return {
        patchType: 'JSONPatch',
        jsonPatch: { expression: this.#fill(`[${patches.join(', ')}]`, 2) },
      }
    })
    return spec
  }

  /** Parameters, policies and bindings. */
  writes(): Step[] {
    const random = this.#random
    const steps: Step[] = [
      this.#post(
        'controllerrevisions',
        { metadata: { name: 'limits', labels: { p: 'x' } }, revision: 1, data: { limit: '2' } },
        '/apis/apps/v1',
      ),
    ]
    // kube-apiserver runs policies of one type in the order of a Go map: so one of each.
    const types = random.pick([[true], [false], [true, false], [false, true]])
    for (const [i, validating] of types.entries()) {
      const type = validating ? 'validating' : 'mutating'
      const metadata = { name: `${this.#id}-${i}` }
      const spec = validating ? this.#validating() : this.#mutating()
      const path = `${group}/${type}admissionpolicies`
      steps.push({ method: 'POST', path, body: { metadata, spec } })
      const bindings = `${group}/${type}admissionpolicybindings`
      const binding = this.#binding(metadata.name, validating)
      steps.push({ method: 'POST', path: bindings, body: { metadata, spec: binding } })
    }
    return steps
  }

  cleaning(): Step[] {
    return ['validating', 'mutating'].flatMap((type) =>
      ['policies', 'policybindings'].flatMap((plural) =>
        [0, 1].map((i) => ({
          method: 'DELETE',
          path: `${group}/${type}admission${plural}/${this.#id}-${i}`,
        })),
      ),
    )
  }

  #post(plural: string, body: Body, path = '/api/v1'): Step {
    return { method: 'POST', path: `${path}/namespaces/${this.#id}/${plural}`, body }
  }

  #metadata(): Body {
    const random = this.#random
    const labels = random.pick([{ app: 'web' }, { app: 'db', tier: 'x' }, undefined])
    return { name: random.pick(['one', 'two']), ...(labels && { labels }) }
  }

  #podSpec(): Body {
    const random = this.#random
    const spec: Body = { containers: [{ name: 'c', image: random.pick(['i:1', 'a/b', 'nginx']) }] }
    if (random.chance(0.3)) spec.hostNetwork = true
    if (random.chance(0.3))
      spec.containers = [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }]
    return spec
  }

  #object(): Step {
    const random = this.#random
    const metadata = this.#metadata()
    const selector = { matchLabels: { app: 'web' } }
    const template = { metadata: { labels: { app: 'web' } }, spec: this.#podSpec() }
    return random.pick<() => Step>([
      () =>
        this.#post('configmaps', {
          metadata,
          data: random.pick([{ a: '1', b: 'x' }, { a: 'b c' }, undefined]),
        }),
      () => this.#post('secrets', { metadata, stringData: { a: 'b' } }),
      () =>
        this.#post('services', { metadata, spec: { ports: [{ port: 80 }], selector: { a: 'b' } } }),
      () => this.#post('pods', { metadata, spec: this.#podSpec() }),
      () =>
        this.#post(
          'deployments',
          { metadata, spec: { replicas: random.below(5), selector, template } },
          '/apis/apps/v1',
        ),
      () =>
        this.#post(
          'horizontalpodautoscalers',
          {
            metadata,
            spec: {
              maxReplicas: 3,
              scaleTargetRef: { kind: 'Deployment', name: 'one', apiVersion: 'apps/v1' },
            },
          },
          `/apis/autoscaling/${random.pick(['v1', 'v2'])}`,
        ),
    ])()
  }

  /** A request that policies may be about. */
  request(): Step {
    const random = this.#random
    const made = this.#object()
    const shape = random.next()
    if (shape < 0.55) return { ...made, path: `${made.path}?dryRun=All` }
    if (shape < 0.75) return made
    const name = random.pick(['one', 'two'])
    if (shape < 0.85)
      return { method: 'DELETE', path: `${made.path}/${name}${random.pick(['', '?dryRun=All'])}` }
    const isDeployment = made.path.endsWith('deployments')
    if (isDeployment && random.chance(0.5))
      return {
        method: 'PATCH',
        path: `${made.path}/${name}/scale`,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { spec: { replicas: random.below(5) } },
      }
    return {
      method: 'PATCH',
      path: `${made.path}/${name}`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: {
        metadata: { annotations: { n: String(random.below(3)) } },
        ...(made.path.endsWith('configmaps') && { data: { a: '9' } }),
      },
    }
  }
}
