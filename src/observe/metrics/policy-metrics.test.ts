/** Which metrics of admission policies and match conditions each release has. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessConditionMetrics, policyMetrics } from './policy-metrics.ts'
import { Registry } from './registry.ts'

const checks = 'apiserver_validating_admission_policy_check_total'
const definitions = 'apiserver_validating_admission_policy_definition_total'
const mutations = 'apiserver_mutating_admission_policy_check_total'
const conditions = 'apiserver_admission_match_condition'
const oldConditions = 'apiserver_admission_admission_match_condition'
const withState = `${checks}{policy="p",policy_binding="b",enforcement_action="deny",state="active"} 1`
const withError = `${checks}{policy="p",policy_binding="b",error_type="no_error",enforcement_action="deny"} 1`
const definition = `${definitions}{state="active",enforcement_action="deny"} 1`
const mutation = `${mutations}{policy="p",policy_binding="b",error_type="no_error"} 1`
const labels = 'name="n",kind="policy",type="validate",operation="CREATE"'
const excluded = `${conditions}_exclusions_total{${labels}} 1`
const errors = `${conditions}_evaluation_errors_total{${labels}} 1`
const oldErrors = `${oldConditions}_evaluation_errors_total{name="n",type="validate"} 1`
const timed = `${conditions}_evaluation_seconds_count{${labels}} 1`

const rows: [minor: number, lines: string[]][] = [
  [25, []],
  [26, [withState, definition]],
  [27, [oldErrors, withState, definition]],
  [28, [errors, timed, excluded, withState, definition]],
  [29, [errors, timed, excluded, withState, definition]],
  [30, [errors, timed, excluded, withState]],
  [31, [errors, timed, excluded, withError]],
  [33, [errors, timed, excluded, withError]],
  [34, [errors, timed, excluded, mutation, withError]],
  [37, [errors, timed, excluded, mutation, withError]],
]

for (const [minor, expected] of rows)
  test(`metrics of policies in 1.${minor}`, async () => {
    const registry = new Registry({ release: minor })
    const metrics = policyMetrics(registry, minor)
    metrics.policyChecks.labels('p', 'b', ...metrics.policyCheckLabels('no_error', 'deny')).add(1)
    metrics.policyDefinitions.labels('active', 'deny').add(1)
    metrics.mutationChecks.labels('p', 'b', 'no_error').add(1)
    const place = ['n', 'policy', 'validate', 'CREATE'] as const
    metrics.conditionErrors.labels(...metrics.conditionErrorLabels(...place)).add(1)
    metrics.conditionExclusions.labels(...place).add(1)
    metrics.conditionDurations.labels(...place).observe(0)
    const lines = (await registry.page()).split('\n')
    const counts = lines.filter((line) => /_(?:total|count)\{/.test(line))
    assert.deepEqual(counts, expected)
  })

for (const [minor, stability] of [
  [30, 'ALPHA'],
  [31, 'BETA'],
] as const)
  test(`checks are ${stability} in 1.${minor}`, async () => {
    const registry = new Registry({ release: minor })
    policyMetrics(registry, minor).policyChecks.labels('p', 'b', '', '').add(1)
    assert.match(await registry.page(), new RegExp(`# HELP ${checks} \\[${stability}\\]`))
  })

for (const [minor, shown] of [
  [29, 0],
  [30, 3],
] as const)
  test(`1.${minor} has ${shown} metrics of conditions of authorizers`, async () => {
    const registry = new Registry({ release: minor })
    const { errors, exclusions, durations } = accessConditionMetrics(registry)
    for (const counts of [errors, exclusions]) counts.labels('Webhook', 'n').add(1)
    durations.labels('Webhook', 'n').observe(0.002)
    const lines = (await registry.page()).split('\n')
    const counts = lines.filter((line) =>
      /_(?:total|count)\{type="Webhook",name="n"\} 1$/.test(line),
    )
    assert.equal(counts.length, shown)
  })
