/**
 * Admission policies over HTTP: they take effect within 100 ms, and each action reaches its reader.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { type Answer, type RunningServer, startServer } from './running-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of any shape
type Any = any

const folder = mkdtempSync(join(tmpdir(), 'binnacle-test-'))
const auditLog = join(folder, 'audit.log')
let server: RunningServer

before(async () => {
  const policy = join(folder, 'audit.yaml')
  writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n')
  server = await startServer([
    '--emulated-version=1.37',
    '--controllers=-*',
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${auditLog}`,
  ])
})
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

const group = '/apis/admissionregistration.k8s.io/v1'
const rule = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['configmaps'],
}

async function make(type: 'Mutating' | 'Validating', spec: Any, binding: Any = {}): Promise<void> {
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const plural = `${group}/${type.toLowerCase()}admissionpolic`
  const metadata = { name: 'p.example.com' }
  const policy = { apiVersion, kind: `${type}AdmissionPolicy`, metadata, spec }
  policy.spec.matchConstraints = { resourceRules: [rule] }
  const bound = { policyName: 'p.example.com', ...binding }
  const binds = { apiVersion, kind: `${type}AdmissionPolicyBinding`, metadata, spec: bound }
  for (const [path, body] of [
    [`${plural}ies`, policy],
    [`${plural}ybindings`, binds],
  ] as const) {
    const { status, text } = await server.ask('POST', path, body)
    assert.equal(status, 201, text)
  }
}

async function remove(type: 'Mutating' | 'Validating'): Promise<void> {
  const plural = `${group}/${type.toLowerCase()}admissionpolic`
  for (const path of [`${plural}ybindings`, `${plural}ies`])
    assert.equal((await server.ask('DELETE', `${path}/p.example.com`)).status, 200)
}

const create = (data: Any): Promise<Answer> =>
  server.ask('POST', '/api/v1/namespaces/default/configmaps?dryRun=All', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c' },
    data,
  })

/** Polls until the answer is the wanted one, for at most 100 ms. */
async function soon(data: Any, wanted: (answer: Answer) => boolean): Promise<Answer> {
  const began = performance.now()
  for (;;) {
    const answer = await create(data)
    if (wanted(answer)) return answer
    assert.ok(performance.now() - began < 100, `${answer.status} ${answer.text}`)
  }
}

test('a policy denies, warns and notes', async () => {
  const expression = "object.data.k == 'ok'"
  const validations = [{ expression, messageExpression: "'k is ' + object.data.k" }]
  await make('Validating', { validations }, { validationActions: ['Deny'] })
  const denied = await soon({ k: 'bad' }, ({ status }) => status === 422)
  assert.match(denied.text, /forbidden: ValidatingAdmissionPolicy 'p.example.com' with binding/)
  assert.equal((await create({ k: 'ok' })).status, 201)
  const path = `${group}/validatingadmissionpolicybindings/p.example.com`
  const type = { 'content-type': 'application/merge-patch+json' }
  const spec = { validationActions: ['Warn', 'Audit'] }
  assert.equal((await server.ask('PATCH', path, { spec }, type)).status, 200)
  const warned = await soon({ k: 'bad' }, ({ status }) => status === 201)
  assert.match(String(warned.headers?.warning), /k is bad/)
  await remove('Validating')
  await soon({ k: 'bad' }, ({ headers }) => headers?.warning === undefined)
  assert.match(readFileSync(auditLog, 'utf8'), /validation.policy.admission.k8s.io/)
})

test('a policy mutates, and one after it validates what came out', async () => {
  const expression = "Object{data: {'added': 'x'}}"
  await make('Mutating', {
    reinvocationPolicy: 'Never',
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
  })
  await soon({ k: 'v' }, ({ text }) => JSON.parse(text).data?.added === 'x')
  const validations = [{ expression: "!('added' in object.data)" }]
  await make('Validating', { validations }, { validationActions: ['Deny'] })
  await soon({ k: 'v' }, ({ status }) => status === 422)
  await remove('Mutating')
  await soon({ k: 'v' }, ({ status }) => status === 201)
  await remove('Validating')
})
