/**
 * What clients may write into admission policies and their bindings, with the releases that differ.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  type CreateCase,
  linesOf,
  named,
  type UpdateCase,
} from '#kinds/all-kinds/behaviour.suite.ts'
import type { Context } from '#kinds/kind.ts'
import { mutatingAdmissionPolicyBehaviour } from './mutating-admission-policy/behaviour.ts'
import { bindingBehaviour } from './policy-binding.ts'
import { bindingColumns } from './policy-columns.ts'
import { validatingAdmissionPolicyBehaviour } from './validating-admission-policy/behaviour.ts'
import { webhookConfigurationBehaviour } from './webhook-configuration.ts'

const at = (release: number, features: string[] = []): Context => contextFor({ release }, features)

const rule = {
  operations: ['CREATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
}
const selectors = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} }
const constraints = { ...selectors, resourceRules: [rule] }

const validating = (spec: Loose = {}) =>
  named({
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: constraints,
      validations: [{ expression: 'true' }],
      ...spec,
    },
  })

const mutating = (mutations: Loose[], spec: Loose = {}) =>
  named({
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: constraints,
      reinvocationPolicy: 'Never',
      mutations,
      ...spec,
    },
  })

const binding = (spec: Loose = {}) =>
  named({ spec: { policyName: 'p', validationActions: ['Deny'], ...spec } })

const notBool = (path: string, text: string, type: string) =>
  `${path}: Invalid value: ${JSON.stringify(text)}: must evaluate to bool but got ${type}`

const validatingCases: CreateCase[] = [
  ['a policy with a validation', validating(), [], at(37)],
  [
    'a policy without anything to check',
    validating({ validations: [] }),
    ['validations', 'auditAnnotations'].map(
      (field) =>
        `spec.${field}: Required value: validations or auditAnnotations must contain at least one item`,
    ),
    at(37),
  ],
  [
    'validations must be boolean',
    validating({ validations: [{ expression: "'x'" }, { expression: 'object.data.k' }] }),
    [
      notBool('spec.validations[0].expression', "'x'", 'string'),
      notBool('spec.validations[1].expression', 'object.data.k', 'dyn'),
    ],
    at(37),
  ],
  [
    'variables have the types of their expressions',
    validating({
      variables: [{ name: 'n', expression: '1' }],
      validations: [{ expression: 'variables.n' }],
    }),
    [notBool('spec.validations[0].expression', 'variables.n', 'int')],
    at(37),
  ],
  [
    'without variables the name variables is undeclared',
    validating({ validations: [{ expression: 'variables.n == 1' }] }),
    [
      `spec.validations[0].expression: Invalid value: "variables.n == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.n == 1\n | ^`,
    ],
    at(37),
  ],
  [
    'match conditions cannot read variables',
    validating({
      variables: [{ name: 'n', expression: '1' }],
      matchConditions: [{ name: 'c', expression: 'variables.n == 1' }],
    }),
    [
      `spec.matchConditions[0].expression: Invalid value: "variables.n == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.n == 1\n | ^`,
    ],
    at(37),
  ],
  [
    'a message expression cannot read the authorizer',
    validating({ validations: [{ expression: 'true', messageExpression: 'authorizer' }] }),
    [
      `spec.validations[0].messageExpression: Invalid value: "authorizer": compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')\n | authorizer\n | ^`,
    ],
    at(37),
  ],
  ...([33, 34] as const).map((release): CreateCase => {
    const start = release === 33 ? 'message must not' : 'must not'
    return [
      `a message with a line break in 1.${release}`,
      validating({ validations: [{ expression: 'true', message: 'a\nb' }] }),
      [`spec.validations[0].message: Invalid value: "a\\nb": ${start} contain line breaks`],
      at(release),
    ]
  }),
  ...([33, 34] as const).map((release): CreateCase => {
    const start = release === 33 ? 'name is not' : 'must be'
    return [
      `a variable that is no identifier in 1.${release}`,
      validating({ variables: [{ name: 'a-b', expression: '1' }] }),
      [`spec.variables[0].name: Invalid value: "a-b": ${start} a valid CEL identifier`],
      at(release),
    ]
  }),
  ...([28, 29] as const).map((release): CreateCase => {
    const field = release === 28 ? 'labelSelector' : 'objectSelector'
    return [
      `constraints without an object selector in 1.${release}`,
      validating({ matchConstraints: { ...constraints, objectSelector: undefined } }),
      [`spec.matchConstraints.${field}: Required value`],
      at(release),
    ]
  }),
  [
    'a namespace in 1.27',
    validating({ validations: [{ expression: "namespaceObject.metadata.name == 'x'" }] }),
    [
      `spec.validations[0].expression: Invalid value: "namespaceObject.metadata.name == 'x'": compilation failed: ERROR: <input>:1:1: undeclared reference to 'namespaceObject' (in container '')\n | namespaceObject.metadata.name == 'x'\n | ^`,
    ],
    at(27),
  ],
  [
    'a namespace in 1.28',
    validating({ validations: [{ expression: "namespaceObject.metadata.name == 'x'" }] }),
    [],
    at(28),
  ],
  [
    'an annotation of any type',
    validating({ auditAnnotations: [{ key: 'k', valueExpression: 'object.data' }] }),
    [
      'spec.auditAnnotations[0].valueExpression: Invalid value: "object.data": must evaluate to one of [string null_type] but got dyn',
    ],
    at(37),
  ],
  [
    'a kind of parameters that cannot be',
    validating({ paramKind: { apiVersion: 'a/b/c', kind: '' } }),
    [
      'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      'spec.paramKind.kind: Required value',
    ],
    at(37),
  ],
]
for (const [release, end] of [
  [31, ''],
  [32, ' but got int'],
] as const)
  validatingCases.push([
    `a validation of another type in 1.${release}`,
    validating({ validations: [{ expression: '1' }] }),
    [`spec.validations[0].expression: Invalid value: "1": must evaluate to bool${end}`],
    at(release),
  ])
checkCreate(validatingAdmissionPolicyBehaviour, validatingCases)

const object = (expression: string) => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
})
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })

checkCreate(mutatingAdmissionPolicyBehaviour, [
  ['objects with any fields', mutating([object('Object{spec: Object.spec{a: 1}}')]), [], at(37)],
  [
    'patches with escaped keys',
    mutating([patch("[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/c'), value: 1}]")]),
    [],
    at(37),
  ],
  [
    'results of other types',
    mutating([object('{}'), patch('[]'), patch('Object{}')]),
    [
      'spec.mutations[0].applyConfiguration.expression: Invalid value: "{}": must evaluate to Object but got map(dyn, dyn)',
      'spec.mutations[1].jsonPatch.expression: Invalid value: "[]": must evaluate to list(JSONPatch) but got list(dyn)',
      'spec.mutations[2].jsonPatch.expression: Invalid value: "Object{}": must evaluate to list(JSONPatch) but got Object',
    ],
    at(37),
  ],
  [
    'a mutation of each type at once, and one of no type',
    mutating([{ ...object('Object{}'), jsonPatch: { expression: '[]' } }, {}, { patchType: 'x' }]),
    [
      'spec.mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
      'spec.mutations[1].patchType: Required value',
      'spec.mutations[2].patchType: Unsupported value: "x": supported values: "ApplyConfiguration", "JSONPatch"',
    ],
    at(37),
  ],
  [
    'deletions',
    mutating([object('Object{}')], {
      matchConstraints: { ...selectors, resourceRules: [{ ...rule, operations: ['DELETE'] }] },
    }),
    [
      'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ],
    at(37),
  ],
])

checkCreate(bindingBehaviour(false), [
  [
    'a binding of a mutating policy for deletions',
    binding({
      matchResources: { ...selectors, resourceRules: [{ ...rule, operations: ['DELETE'] }] },
    }),
    [
      'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ],
    at(37),
  ],
])

checkCreate(bindingBehaviour(true), [
  ['a binding', binding(), [], at(37)],
  [
    'actions that exclude each other',
    binding({ validationActions: ['Deny', 'Warn', 'Deny', 'Log'] }),
    [
      'spec.validationActions[2]: Duplicate value: "Deny"',
      'spec.validationActions[3]: Unsupported value: "Log": supported values: "Audit", "Deny", "Warn"',
      'spec.validationActions: Invalid value: []admissionregistration.ValidationAction{"Deny", "Warn", "Deny", "Log"}: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    ],
    at(30),
  ],
  ...([26, 27] as const).map(
    (release): CreateCase => [
      `no actions in 1.${release}`,
      binding({ validationActions: [] }),
      release === 26
        ? []
        : ['spec.validationActions: Required value: at least one validation action is required'],
      at(release),
    ],
  ),
  ...([27, 28] as const).map(
    (release): CreateCase => [
      `parameters without a name in 1.${release}`,
      binding({ paramRef: { parameterNotFoundAction: 'Deny' } }),
      release === 27
        ? []
        : ['spec.paramRef: Required value: one of name or selector must be specified'],
      at(release),
    ],
  ),
  ...([31, 32] as const).map((release): CreateCase => {
    const field = release === 31 ? 'matchResouces' : 'matchResources'
    return [
      `an unknown match policy in 1.${release}`,
      binding({ matchResources: { ...selectors, matchPolicy: 'X' } }),
      [
        `spec.${field}.matchPolicy: Unsupported value: "X": supported values: "Equivalent", "Exact"`,
      ],
      at(release),
    ]
  }),
])

/** `includes()` is new in 1.37: a policy that has it keeps it, and no other gets it. */
const newer = validating({ validations: [{ expression: '[1].includes(1)' }] })
const changes: UpdateCase[] = [
  ['an expression that is stored stays', newer, newer, [], at(37)],
  [
    'an expression that uses what only this release knows',
    validating(),
    newer,
    [
      `spec.validations[0].expression: Invalid value: "[1].includes(1)": compilation failed: ERROR: <input>:1:13: undeclared reference to 'includes' (in container '')\n | [1].includes(1)\n | ............^`,
    ],
    at(37),
  ],
]
checkUpdate(validatingAdmissionPolicyBehaviour, changes)

const staticName = named({ spec: { policyName: 'p', validationActions: ['Deny'] } })
staticName.metadata.name = 'x.static.k8s.io'
const gate = 'ManifestBasedAdmissionControlConfig'
const reserved =
  'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API'

for (const [release, features, warned, refused] of [
  [35, [], [], []],
  [36, [], [reserved], []],
  [37, [gate], [], [reserved.replace(': ', ': Invalid value: "x.static.k8s.io": ')]],
] as const)
  test(`a name of manifests in 1.${release}, with the gates ${features.join()}`, () => {
    const context = at(release, [...features])
    const behaviour = bindingBehaviour(true)
    assert.deepEqual(behaviour.warningsOnCreate?.(staticName, context), warned)
    assert.deepEqual(linesOf(behaviour.validateCreate?.(staticName, context) ?? []), refused)
  })

for (const [title, spec, shown] of [
  ['none', {}, '<unset>'],
  ['a name', { paramRef: { name: 'n' } }, '*/n'],
  ['a name in a namespace', { paramRef: { name: 'n', namespace: 'ns' } }, 'ns/n'],
  [
    'labels',
    { paramRef: { selector: { matchLabels: { b: 'c', a: 'b' } } } },
    '&LabelSelector{MatchLabels:map[string]string{a: b,b: c,},MatchExpressions:[]LabelSelectorRequirement{},}',
  ],
] as const)
  test(`the column of parameters: ${title}`, () => {
    assert.equal(bindingColumns.cells(binding(spec), 0)[2], shown)
  })

const webhook = (conditions?: Loose[]) =>
  named({
    webhooks: [
      {
        name: 'a.b.c',
        clientConfig: { url: 'https://x/' },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        ...(conditions && { matchConditions: conditions }),
      },
    ],
  })
const condition = { name: 'c', expression: '1' }
const wrong =
  'webhooks[0].matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int'

checkCreate(webhookConfigurationBehaviour, [
  ['a match condition of a webhook must be boolean', webhook([condition]), [wrong], at(37)],
])
checkUpdate(webhookConfigurationBehaviour, [
  ['conditions that stay', webhook([condition]), webhook([condition]), [], at(37)],
  ['conditions that come', webhook(), webhook([condition]), [wrong], at(37)],
])

for (const [features, old, kept] of [
  [['AdmissionWebhookMatchConditions'], undefined, true],
  [[], undefined, false],
  [[], webhook([condition]), true],
] as const)
  test(`conditions with the gates ${features.join()}, ${old ? 'had before' : 'new'}`, () => {
    const next = webhook([condition])
    const context = at(27, [...features])
    if (old === undefined) webhookConfigurationBehaviour.prepareForCreate?.(next, context)
    else webhookConfigurationBehaviour.prepareForUpdate?.(next, old, context)
    assert.equal(next.webhooks[0].matchConditions !== undefined, kept)
  })
