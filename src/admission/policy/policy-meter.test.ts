/** The metrics of policies and match conditions: names and labels by release. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { configMap, creation, Policies } from './policies.suite.ts'
import type { PolicyType } from './policy-source.ts'

/** The lines of counters, and of the number of observations. */
async function linesOf(policies: Policies): Promise<string[]> {
  const lines = (await policies.registry.page()).split('\n')
  return lines.filter((line) => /_(total|count)\{/.test(line)).map((line) => line.slice(10))
}

const refused = (actions: string[], spec: Loose = {}) => ({
  type: 'validating' as const,
  spec: { validations: [{ expression: 'false' }], ...spec },
  binding: { validationActions: actions },
})
const failing = { validations: [{ expression: 'object.none == 1' }] }
const conditions = (expression: string) => ({ matchConditions: [{ name: 'c', expression }] })
const mutation = (expression: string) => ({
  type: 'mutating' as const,
  spec: { mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }] },
  binding: {},
})

const patch = "[JSONPatch{op: 'test', path: '/kind', value: 'ConfigMap'}]"

interface Case {
  readonly title: string
  readonly minor: number
  readonly type: PolicyType
  readonly spec: Loose
  readonly binding: Loose
  readonly expected: readonly string[]
}

const cases: Case[] = [
  {
    title: 'a denial',
    minor: 31,
    ...refused(['Deny', 'Audit']),
    expected: ['deny', 'audit'].flatMap((action) => [
      `validating_admission_policy_check_total{policy="p",policy_binding="p-binding",error_type="invalid_error",enforcement_action="${action}"} 1`,
    ]),
  },
  {
    title: 'a denial in 1.30',
    minor: 30,
    ...refused(['Warn']),
    expected: [
      'validating_admission_policy_check_total{policy="p",policy_binding="p-binding",enforcement_action="warn",state="active"} 1',
    ],
  },
  {
    title: 'a definition in 1.29',
    minor: 29,
    ...refused([]),
    expected: [
      'validating_admission_policy_definition_total{state="active",enforcement_action="deny"} 1',
    ],
  },
  { title: 'no metrics in 1.25', minor: 25, ...refused(['Warn']), expected: [] },
  {
    title: 'an error that is ignored',
    minor: 37,
    ...refused(['Deny'], { ...failing, failurePolicy: 'Ignore' }),
    expected: [
      'validating_admission_policy_check_total{policy="p",policy_binding="p-binding",error_type="invalid_error",enforcement_action="allow"} 1',
    ],
  },
  {
    title: 'an expression that does not compile',
    minor: 37,
    ...refused(['Deny'], { validations: [{ expression: 'object +' }] }),
    expected: [
      'validating_admission_policy_check_total{policy="p",policy_binding="p-binding",error_type="compile_error",enforcement_action="deny"} 1',
    ],
  },
  {
    title: 'a condition with an error',
    minor: 28,
    ...refused(['Deny'], { ...conditions('object.none'), failurePolicy: 'Ignore' }),
    expected: [
      'admission_match_condition_evaluation_errors_total{name="p",kind="policy",type="validate",operation="CREATE"} 1',
      'admission_match_condition_evaluation_seconds_count{name="p",kind="policy",type="validate",operation="CREATE"} 1',
      'validating_admission_policy_definition_total{state="active",enforcement_action="deny"} 1',
    ],
  },
  {
    title: 'a condition with an error in 1.27',
    minor: 27,
    ...refused(['Deny'], { ...conditions('object.none'), failurePolicy: 'Ignore' }),
    expected: [
      'admission_admission_match_condition_evaluation_errors_total{name="p",type="validate"} 1',
      'validating_admission_policy_definition_total{state="active",enforcement_action="deny"} 1',
    ],
  },
  {
    title: 'a mutation',
    minor: 34,
    ...mutation(patch),
    expected: [
      'mutating_admission_policy_check_total{policy="p",policy_binding="p-binding",error_type="no_error"} 1',
    ],
  },
  {
    title: 'a mutation that fails',
    minor: 34,
    ...mutation('object +'),
    expected: [
      'mutating_admission_policy_check_total{policy="p",policy_binding="p-binding",error_type="compile_error"} 1',
    ],
  },
  { title: 'a mutation in 1.33', minor: 33, ...mutation(patch), expected: [] },
]

for (const { title, minor, type, spec, binding, expected } of cases) {
  test(`metrics: ${title}`, async () => {
    const policies = new Policies(type, minor).policy('p', spec).bind('p', binding)
    await policies.outcome(creation(configMap({ k: 'v' })))
    const lines = await linesOf(policies)
    assert.deepEqual(
      lines.filter((line) => !line.includes('_check_duration_')),
      expected,
    )
    // Each check has its own duration.
    const checks = lines.filter((line) => line.includes('_check_total')).length
    assert.equal(lines.filter((line) => line.includes('_check_duration_')).length, checks)
  })
}
