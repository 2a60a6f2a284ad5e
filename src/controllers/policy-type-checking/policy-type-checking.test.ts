/** The controller that writes the status of ValidatingAdmissionPolicies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { startCluster } from '#controllers/cluster.suite.ts'
import { selectControllers } from '#controllers/names.ts'
import { validatingPolicies } from '#controllers/resources.ts'
import { policyTypeChecking } from './policy-type-checking.ts'

const policy = (expression: string) => ({
  metadata: { name: 'p' },
  spec: {
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: ['apps'],
          apiVersions: ['v1'],
          operations: ['*'],
          resources: ['deployments'],
        },
      ],
    },
    validations: [{ expression }],
  },
})

test('each generation of a policy is checked once', async () => {
  const cluster = await startCluster({ release: 37 })
  try {
    const { client } = cluster
    await client.create(validatingPolicies, '', policy('object.spec.replicaz > 1'))
    cluster.run(policyTypeChecking)
    const statusOf = async () => (await client.get(validatingPolicies, '', 'p')).status ?? {}
    await until('the first status', async () => (await statusOf()).observedGeneration === 1)
    const [warning] = (await statusOf()).typeChecking.expressionWarnings
    assert.equal(warning.fieldRef, 'spec.validations[0].expression')
    assert.match(
      warning.warning,
      /^apps\/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replicaz'/,
    )
    const changed = await client.get(validatingPolicies, '', 'p')
    await client.update(validatingPolicies, {
      ...changed,
      spec: { ...changed.spec, ...policy('object.spec.replicas > 1').spec },
    })
    await until('the second status', async () => (await statusOf()).observedGeneration === 2)
    assert.equal((await statusOf()).typeChecking, undefined)
    const { managedFields = [] } = (await client.get(validatingPolicies, '', 'p')).metadata
    assert.deepEqual(
      managedFields
        .filter(({ subresource }) => subresource === 'status')
        .map(({ manager, operation }) => [manager, operation]),
      [['validatingadmissionpolicy-status', 'Apply']],
    )
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

for (const [minor, expected] of [
  [29, []],
  [30, [policyTypeChecking.name]],
] as const)
  test(`the controller in 1.${minor}`, () => {
    assert.deepEqual(selectControllers([policyTypeChecking.name], minor), expected)
  })
