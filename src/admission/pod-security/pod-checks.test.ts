/** The versions of the checks, and the fixtures of Kubernetes' module if Go's cache has it. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { parseYaml } from '#codec/yaml.ts'
import { podChecks, reasonsOf } from './pod-checks.ts'
import type { PodSecurityLevel } from './policy.ts'

const on = () => true
const off = () => false
const newest = podChecks(releaseOf(37), off)

const good: Loose = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}
const pod = (securityContext: Loose, more: Loose = {}, ofContainer: Loose = {}): Loose => ({
  containers: [{ name: 'c', securityContext, ...ofContainer }],
  ...more,
})
const sysctl = (name: string) => pod({}, { securityContext: { sysctls: [{ name }] } })
const probing = pod({}, {}, { livenessProbe: { httpGet: { host: 'h' } } })
const image = pod(good, { volumes: [{ name: 'v', image: {} }] })
const windows = pod({ runAsNonRoot: true }, { os: { name: 'windows' } })
const armored = pod({ appArmorProfile: { type: 'Unconfined' } })
const selinuxUser = pod({ seLinuxOptions: { user: 'u' } })

const rows: [
  name: string,
  level: PodSecurityLevel,
  version: number,
  spec: Loose,
  reasons: string,
][] = [
  [
    'runAsUser=0 is forbidden since 1.23',
    'restricted',
    23,
    pod({ ...good, runAsUser: 0 }),
    'runAsUser=0',
  ],
  ['and not before', 'restricted', 22, pod({ ...good, runAsUser: 0 }), ''],
  ['Windows pods need less since 1.25', 'restricted', 25, windows, ''],
  [
    'before they need what others do',
    'restricted',
    24,
    windows,
    'allowPrivilegeEscalation != false, unrestricted capabilities, seccompProfile',
  ],
  ['reserved ports since 1.27', 'baseline', 27, sysctl('net.ipv4.ip_local_reserved_ports'), ''],
  [
    'and not before 1.27',
    'baseline',
    26,
    sysctl('net.ipv4.ip_local_reserved_ports'),
    'forbidden sysctls',
  ],
  ['slow start since 1.37', 'baseline', 37, sysctl('net.ipv4.tcp_notsent_lowat'), ''],
  [
    'and not before 1.37',
    'baseline',
    36,
    sysctl('net.ipv4.tcp_notsent_lowat'),
    'forbidden sysctls',
  ],
  [
    'container_engine_t since 1.31',
    'baseline',
    31,
    pod({ seLinuxOptions: { type: 'container_engine_t' } }),
    '',
  ],
  [
    'and not before 1.31',
    'baseline',
    30,
    pod({ seLinuxOptions: { type: 'container_engine_t' } }),
    'seLinuxOptions',
  ],
  ['hosts of probes are forbidden since 1.34', 'baseline', 34, probing, 'probe or lifecycle host'],
  ['and not before 1.34', 'baseline', 33, probing, ''],
  [
    'user namespaces relax procMount since 1.35',
    'baseline',
    35,
    pod({ procMount: 'Unmasked' }, { hostUsers: false }),
    '',
  ],
  [
    'but not at the level restricted',
    'restricted',
    35,
    pod({ ...good, procMount: 'Unmasked' }, { hostUsers: false }),
    'procMount',
  ],
  [
    'and not before 1.35',
    'baseline',
    34,
    pod({ procMount: 'Unmasked' }, { hostUsers: false }),
    'procMount',
  ],
  [
    'root in a user namespace since 1.35',
    'restricted',
    35,
    pod({ ...good, runAsNonRoot: false, runAsUser: 0 }, { hostUsers: false }),
    '',
  ],
  [
    'and not before',
    'restricted',
    34,
    pod({ ...good, runAsNonRoot: false }, { hostUsers: false }),
    'runAsNonRoot != true',
  ],
  ['images are volumes at any version', 'restricted', 20, image, ''],
  ['AppArmor has a field', 'baseline', 10, armored, 'forbidden AppArmor profile'],
  [
    'a problem of both levels is named once',
    'restricted',
    37,
    pod({ ...good, capabilities: { drop: ['ALL'], add: ['X'] } }),
    'unrestricted capabilities',
  ],
]
for (const [name, level, version, spec, reasons] of rows)
  test(`1.${version} ${level}: ${name}`, () => {
    assert.equal(reasonsOf(newest({ level, version }, {}, spec)), reasons)
  })

test('differences between releases', () => {
  const reasons = (minor: number, level: PodSecurityLevel, spec: Loose, gate = off) =>
    reasonsOf(podChecks(releaseOf(minor), gate)({ level, version: undefined }, {}, spec))
  assert.equal(reasons(29, 'baseline', armored), '')
  assert.equal(reasons(30, 'baseline', armored), 'forbidden AppArmor profile')
  assert.equal(reasons(32, 'restricted', image), 'restricted volume types')
  assert.equal(reasons(33, 'restricted', image), '')
  const root = pod({ ...good, runAsUser: 0 }, { hostUsers: false })
  assert.equal(reasons(29, 'restricted', root, on), '')
  assert.equal(reasons(29, 'restricted', root), 'runAsUser=0')
  assert.equal(reasons(28, 'restricted', root, on), 'runAsUser=0')
  const unmasked = pod({ procMount: 'Unmasked' }, { hostUsers: false })
  assert.equal(reasons(30, 'baseline', unmasked, on), 'procMount')
  assert.equal(reasons(31, 'baseline', unmasked, on), '')
  const both = pod({ ...good, capabilities: { drop: ['ALL'], add: ['X'] } })
  const twice = 'non-default capabilities, unrestricted capabilities'
  assert.equal(reasons(23, 'restricted', both), twice)
  assert.equal(reasons(24, 'restricted', both), 'unrestricted capabilities')
  const detail = (minor: number) =>
    podChecks(releaseOf(minor), off)({ level: 'baseline', version: 25 }, {}, selinuxUser)[0]?.detail
  assert.match(detail(25) ?? '', /seLinuxOptions: $/)
  assert.match(detail(26) ?? '', /seLinuxOptions: user may not be set$/)
})

const cache = process.env.GOMODCACHE ?? join(homedir(), 'go', 'pkg', 'mod')
const fixtures = join(cache, 'k8s.io/pod-security-admission@v0.37.0/test/testdata')
const isThere = existsSync(fixtures)

for (const level of ['baseline', 'restricted'] as const)
  test(`the module's fixtures of the level ${level}`, {
    skip: !isThere && 'not downloaded',
  }, () => {
    let count = 0
    for (const name of readdirSync(join(fixtures, level))) {
      const version = Number(name.replace('v1.', ''))
      for (const kind of ['pass', 'fail'] as const) {
        const folder = join(fixtures, level, name, kind)
        for (const file of existsSync(folder) ? readdirSync(folder) : []) {
          const text = readFileSync(join(folder, file), 'utf8')
          const { metadata, spec } = parseYaml(text) as Loose
          // With the defaults of pods.
          for (const volume of spec.volumes ?? [])
            if (Object.keys(volume).length === 1) volume.emptyDir = {}
          const reasons = reasonsOf(newest({ level, version }, metadata, spec))
          assert.equal(
            reasons === '',
            kind === 'pass',
            `${level} ${name} ${kind} ${file}: ${reasons}`,
          )
          count++
        }
      }
    }
    assert.ok(count > 1000, `${count} fixtures`)
  })
