import type { Loose } from '#api/object-meta.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { contextFor, inDefault, linesOf } from '#kinds/all-kinds/behaviour.suite.ts'
import { allDefaults } from '#kinds/all-kinds/rules.fixture.ts'
import { podDisruptionBudgetBehaviour as behaviour } from './behaviour.ts'

const both = { minAvailable: 1, maxUnavailable: 2 }
const shown =
  'MinAvailable:(*intstr.IntOrString)(0xc000000000), Selector:(*v1.LabelSelector)(nil), MaxUnavailable:(*intstr.IntOrString)(0xc000000000)'
const notBoth = 'minAvailable and maxUnavailable cannot be both set'

checkBoundaries<Loose, string[]>(
  (release, spec) =>
    linesOf(behaviour.validateCreate?.(inDefault({ spec }), contextFor({ release })) ?? []),
  [
    [
      'errors show the policy for unhealthy pods',
      [25, 26],
      both,
      [`spec: Invalid value: policy.PodDisruptionBudgetSpec{${shown}}: ${notBoth}`],
      [
        `spec: Invalid value: policy.PodDisruptionBudgetSpec{${shown}, UnhealthyPodEvictionPolicy:(*policy.UnhealthyPodEvictionPolicyType)(nil)}: ${notBoth}`,
      ],
    ],
  ],
)

const key = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'
const labelled = {
  matchLabels: { app: 'web' },
  matchExpressions: [{ key, operator: 'Exists' }],
}
const plain = { matchLabels: { app: 'web' } }

/** The selector as a read in policy/v1 shows the stored budget. */
function readSelector(release: number, selector: Loose): unknown {
  const spec = { selector }
  allDefaults['io.k8s.api.policy.v1.PodDisruptionBudgetSpec']?.(spec, contextFor({ release }))
  return spec.selector
}

/** The selector that a new budget is stored with. */
function writtenSelector(release: number, selector: Loose): unknown {
  const budget = inDefault({ spec: { selector } })
  behaviour.prepareForCreate?.(budget, contextFor({ release }))
  return budget.spec.selector
}

checkBoundaries(readSelector, [
  ['a stored budget shows the label for empty selectors', [36, 37], labelled, plain, labelled],
])
checkBoundaries(writtenSelector, [
  ['a new budget loses the label for empty selectors', [36, 37], labelled, labelled, plain],
])
