import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
  named,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { ingressBehaviour } from './ingress/behaviour.ts'
import { ingressClassBehaviour } from './ingress-class/behaviour.ts'
import { networkPolicyBehaviour } from './network-policy/behaviour.ts'

const stable = contextFor({ requestApiVersion: 'networking.k8s.io/v1' })
const beta = contextFor({ requestApiVersion: 'networking.k8s.io/v1beta1' })
const backend = { service: { name: 's', port: { number: 80 } } }
const rule = (host: string, path: Loose) =>
  inDefault({
    spec: {
      rules: [{ host, http: { paths: [{ pathType: 'Prefix', path: '/', backend, ...path }] } }],
    },
  })
const none = inDefault({ spec: {} })

checkCreate(ingressBehaviour, [
  ['a rule', rule('a.b', {}), [], stable],
  [
    'a backend or rules',
    none,
    [
      'spec: Invalid value: []networking.IngressRule(nil): either `defaultBackend` or `rules` must be specified',
    ],
    stable,
  ],
  [
    'named as the version names it',
    none,
    [
      'spec: Invalid value: []networking.IngressRule(nil): either `backend` or `rules` must be specified',
    ],
    beta,
  ],
  [
    'paths have a type',
    rule('a.b', { pathType: null }),
    ['spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified'],
    stable,
  ],
  [
    'paths are plain',
    rule('a.b', { path: 'x//y/..' }),
    [
      'spec.rules[0].http.paths[0].path: Invalid value: "x//y/..": must be an absolute path',
      'spec.rules[0].http.paths[0].path: Invalid value: "x//y/..": must not contain \'//\'',
      'spec.rules[0].http.paths[0].path: Invalid value: "x//y/..": cannot end with \'/..\'',
    ],
    stable,
  ],
  [
    'a port by name or number',
    rule('a.b', { backend: { service: { name: 's', port: { name: 'x', number: 1 } } } }),
    [
      'spec.rules[0].http.paths[0].backend: Invalid value: "": cannot set both port name & port number',
    ],
    stable,
  ],
  [
    'fields are named as in the request',
    rule('a.b', { backend: { service: { name: '', port: { number: -1 } } } }),
    [
      'spec.rules[0].http.paths[0].backend.serviceName: Required value',
      'spec.rules[0].http.paths[0].backend.servicePort: Invalid value: -1: must be between 1 and 65535, inclusive',
    ],
    beta,
  ],
  ['the beta lets rules for many hosts be anything', rule('*.b', { path: 'x' }), [], beta],
  [
    'the class is specified only once',
    inDefault(
      { spec: { defaultBackend: backend, ingressClassName: 'x' } },
      { annotations: { 'kubernetes.io/ingress.class': 'y' } },
    ),
    [
      'annotations.kubernetes.io/ingress.class: Invalid value: "y": can not be set when the class field is also set',
    ],
    stable,
  ],
  [
    'before 1.18 errors of paths name the first rule, without the path',
    rule('a.b', { backend: {} }),
    ['spec.rules[0].http.backend.serviceName: Required value'],
    contextFor({ release: 15 }),
  ],
])

test('a changed spec increments the generation', () => {
  const old = rule('a.b', {})
  old.metadata.generation = 1
  const next = rule('a.c', {})
  ingressBehaviour.prepareForUpdate?.(next, old, stable)
  assert.equal(next.metadata.generation, 2)
  const same = rule('a.b', {})
  ingressBehaviour.prepareForUpdate?.(same, old, stable)
  assert.equal(same.metadata.generation, undefined)
})

const scoped = contextFor({}, ['IngressClassNamespacedParams'])
const parameters = (fields: Loose) =>
  named({ spec: { controller: 'a.b/c', parameters: { kind: 'K', name: 'n', ...fields } } })
checkCreate(ingressClassBehaviour, [
  ['a class', parameters({ scope: 'Cluster' }), [], scoped],
  ['without a scope', parameters({}), ['spec.parameters.scope: Required value'], scoped],
  [
    'a namespace belongs to the scope',
    parameters({ scope: 'Namespace' }),
    ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
    scoped,
  ],
  [
    'and not to the other',
    parameters({ scope: 'Cluster', namespace: 'x' }),
    ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
    scoped,
  ],
])
checkUpdate(ingressClassBehaviour, [
  [
    'the controller stays',
    named({ spec: { controller: 'a.b/c' } }),
    named({ spec: { controller: 'a.b/d' } }),
    ['spec.controller: Invalid value: "a.b/d": field is immutable'],
  ],
])

const policy = (spec: Loose) => inDefault({ spec: { podSelector: {}, ...spec } })
checkCreate(networkPolicyBehaviour, [
  ['everything is refused', policy({}), []],
  [
    'a peer must be specified',
    policy({ ingress: [{ from: [{}] }] }),
    ['spec.ingress[0].from[0]: Required value: must specify a peer'],
  ],
  [
    'exceptions lie within',
    policy({
      egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/8', '11.0.0.0/9'] } }] }],
    }),
    [
      'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
      'spec.egress[0].to[0].ipBlock.except[1]: Invalid value: "11.0.0.0/9": must be a strict subset of `cidr`',
    ],
  ],
  [
    'a range of ports begins with a number',
    policy({
      ingress: [
        { ports: [{ port: 'web', endPort: 90 }, { port: 80, endPort: 70 }, { endPort: 1 }] },
      ],
    }),
    [
      'spec.ingress[0].ports[0].endPort: Invalid value: 90: may not be specified when `port` is non-numeric',
      'spec.ingress[0].ports[1].endPort: Invalid value: 80: must be greater than or equal to `port`',
      'spec.ingress[0].ports[2].endPort: Invalid value: 1: may not be specified when `port` is not specified',
    ],
  ],
])
