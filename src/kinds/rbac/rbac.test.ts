import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
  linesOf,
  named,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { clusterRoleBindingBehaviour } from './cluster-role-binding/behaviour.ts'
import { roleBindingBehaviour } from './role-binding/behaviour.ts'
import { clusterRoleBehaviour } from './cluster-role/behaviour.ts'
import { roleBehaviour } from './role/behaviour.ts'

checkCreate(roleBehaviour, [
  ['a rule', inDefault({ rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] }), []],
  [
    'verbs, groups and resources',
    inDefault({ rules: [{ verbs: null }] }),
    [
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ],
  ],
  [
    'paths belong to no namespace',
    inDefault({ rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['y'] }] }),
    [
      'rules[0].nonResourceURLs: Invalid value: []string{"/x"}: namespaced rules cannot apply to non-resource URLs',
      'rules[0].nonResourceURLs: Invalid value: []string{"/x"}: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
])
checkCreate(clusterRoleBehaviour, [
  [
    'aggregation selects something',
    named({ aggregationRule: {} }),
    [
      'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ],
  ],
])
checkUpdate(roleBehaviour, [
  [
    'a change is checked twice over',
    inDefault({ rules: [] }),
    inDefault({
      rules: [{ verbs: [], nonResourceURLs: null, apiGroups: ['a'], resources: ['b'] }],
    }),
    Array<string>(2).fill('rules[0].verbs: Required value: verbs must contain at least one value'),
  ],
])

const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }
checkCreate(clusterRoleBindingBehaviour, [
  [
    'subjects',
    named({
      roleRef,
      subjects: [
        { kind: 'ServiceAccount', name: 's', apiGroup: 'x' },
        { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'u' },
        { kind: 'Odd', name: '' },
      ],
    }),
    [
      'subjects[0].apiGroup: Unsupported value: "x": supported values: ""',
      'subjects[0].namespace: Required value',
      'subjects[2].name: Required value',
      'subjects[2].kind: Unsupported value: "Odd": supported values: "ServiceAccount", "User", "Group"',
    ],
  ],
  [
    'a role of the cluster',
    named({ roleRef: { ...roleRef, kind: 'Role' } }),
    ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
  ],
])
checkUpdate(roleBindingBehaviour, [
  [
    'the role stays',
    inDefault({ roleRef }),
    inDefault({ roleRef: { ...roleRef, name: 'edit' } }),
    [
      'roleRef: Invalid value: rbac.RoleRef{APIGroup:"rbac.authorization.k8s.io", Kind:"ClusterRole", Name:"edit"}: cannot change roleRef',
    ],
  ],
])
checkUpdate(roleBindingBehaviour, [
  [
    'since 1.37 as a field that is immutable',
    inDefault({ roleRef }),
    inDefault({ roleRef: { ...roleRef, name: 'edit' } }),
    [
      'roleRef: Invalid value: rbac.RoleRef{APIGroup:"rbac.authorization.k8s.io", Kind:"ClusterRole", Name:"edit"}: field is immutable',
    ],
    contextFor({ release: 37 }),
  ],
])

const otherRole =
  'roleRef: Invalid value: rbac.RoleRef{APIGroup:"rbac.authorization.k8s.io", Kind:"ClusterRole", Name:"edit"}'
for (const [behaviour, bindingOf] of [
  [clusterRoleBindingBehaviour, named],
  [roleBindingBehaviour, inDefault],
] as const)
  checkBoundaries<string, string[]>(
    (release, name) => {
      const [old, next] = [bindingOf({ roleRef }), bindingOf({ roleRef: { ...roleRef, name } })]
      return linesOf(behaviour.validateUpdate?.(next, old, contextFor({ release })) ?? [])
    },
    [
      [
        'a binding to another role',
        [36, 37],
        'edit',
        [`${otherRole}: cannot change roleRef`],
        [`${otherRole}: field is immutable`],
      ],
    ],
  )
