/**
 * Deployments of the old versions rolled back to an earlier state: what that leaves on them, and
 * what is rejected.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type RunningServer, startServer } from './running-server.ts'

let server: RunningServer
const all = '/namespaces/default/deployments'
const labels = { app: 'a' }
before(async () => {
  server = await startServer(['--emulated-version=1.15', '--controllers=-*'])
  const made = await server.ask('POST', `/apis/apps/v1${all}`, {
    metadata: { name: 'd', annotations: { kept: 'yes' } },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  })
  assert.equal(made.status, 201, made.text)
})
after(() => server.stop())

const read = async (apiVersion = 'apps/v1') =>
  (await server.ask('GET', `/apis/${apiVersion}${all}/d`)).body
const ask = (apiVersion: string, name: string, body: object, query = '') =>
  server.ask('POST', `/apis/${apiVersion}${all}/${name}/rollback${query}`, body)

const noted: [apiVersion: string, body: object, revision: string][] = [
  ['extensions/v1beta1', { name: 'd', rollbackTo: { revision: 7 } }, '7'],
  ['apps/v1beta1', { name: 'd', rollbackTo: {} }, '0'],
  [
    'apps/v1beta1',
    {
      kind: 'DeploymentRollback',
      apiVersion: 'apps/v1beta1',
      name: 'd',
      rollbackTo: { revision: 3 },
    },
    '3',
  ],
]
for (const [apiVersion, body, revision] of noted) {
  test(`${apiVersion}: ${JSON.stringify(body)} is noted, and nothing else changes`, async () => {
    const old = await read()
    const answer = await ask(apiVersion, 'd', { ...body, updatedAnnotations: { by: revision } })
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual(answer.body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      message: 'rollback request for deployment "d" succeeded',
      code: 200,
    })
    const { metadata, spec } = await read()
    assert.deepEqual([metadata.generation, spec], [old.metadata.generation, old.spec])
    const key = 'deprecated.deployment.rollback.to'
    assert.deepEqual(metadata.annotations, { kept: 'yes', by: revision, [key]: revision })
    const { rollbackTo } = (await read('extensions/v1beta1')).spec
    assert.deepEqual(rollbackTo, revision === '0' ? {} : { revision: Number(revision) })
  })
}

test('a dry run notes nothing', async () => {
  const old = await read()
  const answer = await ask('apps/v1beta1', 'd', { name: 'd' }, '?dryRun=All')
  assert.equal(answer.status, 201, answer.text)
  assert.deepEqual(await read(), old)
})

const prefix = 'DeploymentRollback.apps'
const refused: [what: string, name: string, body: object, status: number, message: string][] = [
  [
    'another name',
    'd',
    { name: 'e' },
    400,
    'name in URL does not match name in DeploymentRollback object',
  ],
  ['one that is not there', 'none', { name: 'none' }, 404, 'deployments.apps "none" not found'],
  [
    'a state before the first',
    'd',
    { name: 'd', rollbackTo: { revision: -1 } },
    422,
    `${prefix} "d" is invalid: rollback.version: Invalid value: -1: must be greater than or equal to 0`,
  ],
  ['no name', 'd', {}, 422, `${prefix} "" is invalid: name: Required value: name is required`],
]
for (const [what, name, body, status, message] of refused) {
  test(`refused: ${what}`, async () => {
    const answer = await ask('extensions/v1beta1', name, body)
    assert.deepEqual([answer.status, answer.body.message], [status, message])
  })
}
