/** The settings of a program that may read them and nothing else. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import test, { after, before } from 'node:test'
import {
  ApiException,
  CoreV1Api,
  KubeConfig,
  RbacAuthorizationV1Api,
} from '@kubernetes/client-node'
import { type Server, startServer } from '../server.ts'
import { type Place, type Settings, watchSettings } from './settings.ts'

const namespace = 'default'
const account = 'program'
const config = new KubeConfig()
let server: Server
let core: CoreV1Api
let place: Place

before(async () => {
  server = await startServer()
  config.loadFromFile(server.kubeconfig)
  core = config.makeApiClient(CoreV1Api)
  const access = config.makeApiClient(RbacAuthorizationV1Api)
  await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: account } } })
  const rule = { apiGroups: [''], resources: ['configmaps'], resourceNames: ['settings'] }
  await access.createNamespacedRole({
    namespace,
    body: { metadata: { name: account }, rules: [{ ...rule, verbs: ['list', 'watch'] }] },
  })
  await access.createNamespacedRoleBinding({
    namespace,
    body: {
      metadata: { name: account },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
    },
  })
  const { status } = await core.createNamespacedServiceAccountToken({
    namespace,
    name: account,
    body: { spec: { audiences: [], expirationSeconds: 3600 } },
  })
  const { server: url, caData } = config.getCurrentCluster() as { server: string; caData: string }
  const ca = Buffer.from(caData, 'base64').toString()
  place = { server: url, ca, token: status?.token as string, namespace, name: 'settings' }
})
after(() => server?.stop())

/** Watches through `url`; `times(n)` waits until settings were heard of n times. */
async function startHearing(url: string) {
  const heard: Settings[] = []
  let wake = () => {}
  const watch = await watchSettings({ ...place, server: url }, (settings) => {
    heard.push(settings)
    wake()
  })
  const times = async (wanted: number) => {
    while (heard.length < wanted) await new Promise<void>((resolve) => (wake = resolve))
  }
  return { heard, watch, times }
}

const settings = (colour: string) => ({ metadata: { name: 'settings' }, data: { colour } })

test('changes are heard as they are made', async () => {
  const { heard, watch, times } = await startHearing(place.server)
  assert.deepEqual(watch.now, {})
  await core.createNamespacedConfigMap({ namespace, body: settings('red') })
  await times(1)
  assert.deepEqual(watch.now, { colour: 'red' })
  const body = settings('blue')
  await core.replaceNamespacedConfigMap({ namespace, name: 'settings', body })
  await times(2)
  await core.deleteNamespacedConfigMap({ namespace, name: 'settings' })
  await times(3)
  watch.stop()
  assert.deepEqual(heard, [{ colour: 'red' }, { colour: 'blue' }, {}])
})

test('what happened while the connection was cut is heard after it', async () => {
  const { port, hostname } = new URL(place.server)
  const open = new Set<Socket>()
  const between = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
    }
  }).listen(0, hostname)
  await once(between, 'listening')
  const { port: cutPort } = between.address() as { port: number }
  const { heard, watch, times } = await startHearing(`https://${hostname}:${cutPort}`)
  await core.createNamespacedConfigMap({ namespace, body: settings('red') })
  await times(1)
  for (const socket of open) socket.destroy()
  const body = settings('blue')
  await core.replaceNamespacedConfigMap({ namespace, name: 'settings', body })
  await times(2)
  watch.stop()
  between.close()
  assert.deepEqual(heard, [{ colour: 'red' }, { colour: 'blue' }])
})

test('nothing else may be read with its token', async () => {
  await assert.rejects(
    watchSettings({ ...place, name: 'others' }, () => {}),
    /was answered with 403/,
  )
  config.addUser({ name: account, token: place.token })
  config.addContext({ name: account, user: account, cluster: config.getCurrentCluster()!.name })
  config.setCurrentContext(account)
  const asProgram = config.makeApiClient(CoreV1Api)
  await assert.rejects(asProgram.listNamespacedSecret({ namespace }), (error) => {
    return error instanceof ApiException && error.code === 403
  })
})
