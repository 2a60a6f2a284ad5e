/**
 * Helm 3 or 4 with a chart of our own that has a hook, a definition and an object of it. It is
 * installed, upgraded over what others changed, fails and is rolled back. It runs where helm is on
 * the PATH (`BINNACLE_HELM` names another), and is skipped and says so elsewhere.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { startServer } from '../running-server.ts'

const helm = process.env.BINNACLE_HELM ?? 'helm'
const version = spawnSync(helm, ['version', '--short'], { encoding: 'utf8' })
const skip = version.status !== 0 && `no ${helm} on the PATH`
/** Helm 4 applies, and by default does not take over what others changed. */
const applies = /^v4/.test(version.stdout)

const chart: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: demo\nversion: 0.1.0\n',
  'values.yaml': 'color: red\nport: 80\n',
  'crds/paints.yaml': `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: paints.helm.example.com}
spec:
  group: helm.example.com
  scope: Namespaced
  names: {plural: paints, kind: Paint}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {color: {type: string}}}}}}
`,
  'templates/all.yaml': `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-cm}
data:
  color: {{ .Values.color }}
  server: {{ .Capabilities.KubeVersion.Version }}
  apps: "{{ .Capabilities.APIVersions.Has "apps/v1/Deployment" }}"
  looked: "{{ with lookup "v1" "Namespace" "" "default" }}{{ .metadata.name }}{{ end }}"
---
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {selector: {app: demo}, ports: [{port: {{ .Values.port }}}]}
---
apiVersion: helm.example.com/v1
kind: Paint
metadata: {name: {{ .Release.Name }}}
spec: {color: {{ .Values.color }}}
`,
  'templates/hook.yaml': `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-hook
  annotations: {"helm.sh/hook": "pre-install,pre-upgrade,pre-rollback"}
data: {revision: "{{ .Release.Revision }}"}
`,
}

test('installs, upgrades, fails, rolls back, uninstalls', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-helm-'))
  const server = await startServer()
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    KUBECONFIG: join(server.dataDir, 'admin.kubeconfig'),
  }
  for (const [name, text] of Object.entries(chart)) {
    const path = join(folder, 'chart', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const run = (command: string, fails = false): string => {
    const args = command.replace('CHART', join(folder, 'chart')).split(' ')
    const { status, stdout, stderr } = spawnSync(helm, args, { encoding: 'utf8', env })
    assert.equal(status === 0, !fails, `helm ${command}\n${stdout}\n${stderr}`)
    return stdout + stderr
  }
  const maps = '/api/v1/namespaces/default/configmaps'
  const paint = '/apis/helm.example.com/v1/namespaces/default/paints/r'
  const read = async (path: string) => (await server.ask('GET', path)).body
  try {
    assert.match(run('install r CHART --wait --timeout 60s'), /STATUS: deployed/)
    const { data } = await read(`${maps}/r-cm`)
    const known = { color: 'red', server: 'v1.22.17', apps: 'true', looked: 'default' }
    assert.deepEqual(data, known)
    assert.equal((await read(paint)).spec.color, 'red')
    assert.match(run('upgrade r CHART --dry-run=server --set color=blue'), /color: blue/)

    const drift = { metadata: { labels: { mine: 'yes' } }, data: { extra: '1', color: 'green' } }
    const merge = { 'content-type': 'application/merge-patch+json' }
    await server.ask('PATCH', `${maps}/r-cm`, drift, merge)
    if (applies) assert.match(run('upgrade r CHART --set color=blue', true), /\.data\.color/)
    run(`upgrade r CHART --set color=blue${applies ? ' --force-conflicts' : ''}`)
    const upgraded = await read(`${maps}/r-cm`)
    assert.deepEqual(upgraded.data, { ...known, color: 'blue', extra: '1' })
    assert.equal(upgraded.metadata.labels.mine, 'yes')
    assert.equal((await read(paint)).spec.color, 'blue')
    assert.equal((await read(`${maps}/r-hook`)).data.revision, applies ? '3' : '2')

    const failed = run('upgrade r CHART --set port=70000 --atomic --timeout 30s', true)
    assert.match(failed, /rolled back due to [a-z-]+ being set[\s\S]*must be between 1 and 65535/)
    assert.equal((await read(`${maps}/r-cm`)).data.color, 'blue')
    run('rollback r 1')
    assert.equal((await read(paint)).spec.color, 'red')
    assert.match(run('history r'), /superseded[\s\S]*failed[\s\S]*Rollback to 1/)
    assert.match(run('list -o json'), applies ? /"revision":"6"/ : /"revision":"5"/)
    assert.match(run('get manifest r'), /kind: Paint/)
    run('uninstall r')
    assert.equal((await server.ask('GET', `${maps}/r-cm`)).status, 404)
    assert.equal((await server.ask('GET', paint)).status, 404)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
