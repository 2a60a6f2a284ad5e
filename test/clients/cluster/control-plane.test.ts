/**
 * The real kube-controller-manager and kube-scheduler beside a server without controllers of its
 * own, and the scheduler beside one with them: the stories of a cluster. They run where the
 * programs are on the PATH (`BINNACLE_CONTROLLER_MANAGER` and `BINNACLE_SCHEDULER` name others).
 * Those that need a missing program are skipped and say so.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import test from 'node:test'
import { freePort, type RunningServer, startServer } from '../../running-server.ts'
import { startKubelets } from './kubelets.fixture.ts'
import { stories } from './stories.fixture.ts'

const programs = {
  'kube-controller-manager': process.env.BINNACLE_CONTROLLER_MANAGER ?? 'kube-controller-manager',
  'kube-scheduler': process.env.BINNACLE_SCHEDULER ?? 'kube-scheduler',
}
type Program = keyof typeof programs

const missing = (wanted: readonly Program[]): string | false => {
  const absent = wanted.filter((name) => spawnSync(programs[name], ['--version']).status !== 0)
  return absent.length > 0 && `no ${absent.join(' and no ')} on the PATH`
}

async function start(name: Program, server: RunningServer, more: readonly string[] = []) {
  const kubeconfig = join(server.dataDir, 'admin.kubeconfig')
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--secure-port=${await freePort()}`,
    '--bind-address=127.0.0.1',
    // A machine that is busy with other tests lets it renew late.
    '--leader-elect-lease-duration=60s',
    '--leader-elect-renew-deadline=40s',
    `--cert-dir=${join(server.dataDir, name)}`,
  ]
  const child = spawn(programs[name], [...flags, ...more], { stdio: 'ignore' })
  process.on('exit', () => child.kill('SIGKILL'))
  return child
}

function startManager(server: RunningServer): Promise<ChildProcess> {
  const pki = (file: string) => join(server.dataDir, 'pki', file)
  return start('kube-controller-manager', server, [
    '--use-service-account-credentials',
    `--service-account-private-key-file=${pki('sa.key')}`,
    `--root-ca-file=${pki('ca.crt')}`,
    `--cluster-signing-cert-file=${pki('ca.crt')}`,
    `--cluster-signing-key-file=${pki('ca.key')}`,
    '--node-monitor-grace-period=10s',
    '--horizontal-pod-autoscaler-sync-period=1s',
    '--horizontal-pod-autoscaler-downscale-stabilization=2s',
  ])
}

/**
 * Stories at once, for each waits for others most of the time; those that take a node away come
 * last.
 */
async function tell(names: readonly string[], flags: readonly string[], manager: boolean) {
  const server = await startServer(['--storage-backend=sqlite', ...flags])
  const children = [await start('kube-scheduler', server)]
  if (manager) children.push(await startManager(server))
  const kubelets = startKubelets(server.ask, ['node-a', 'node-b'])
  try {
    const world = { ask: server.ask, kubelets }
    const outcomes = await Promise.allSettled(
      names.filter((name) => name !== 'lostNode').map((name) => stories[name](world)),
    )
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.deepEqual(
      failed.map(({ reason }) => String(reason?.stack)),
      [],
    )
    if (names.includes('lostNode')) await stories['lostNode'](world)
    assert.deepEqual(kubelets.refused, [])
    assert.doesNotMatch(server.said(), / error /)
  } finally {
    kubelets.stop()
    for (const child of children) child.kill('SIGKILL')
    await server.stop()
  }
}

test(
  'every story with the real controllers and the real scheduler',
  {
    skip: missing(['kube-controller-manager', 'kube-scheduler']),
  },
  () => tell(Object.keys(stories), ['--controllers=-*'], true),
)

/** What controllers of our own and a scheduler suffice for. */
const withoutManager = ['pods', 'certificates', 'accounts', 'customKinds']

test(
  'the real scheduler beside controllers of our own',
  { skip: missing(['kube-scheduler']) },
  () => tell(withoutManager, [], false),
)
