import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deprecations, flagWarning } from './deprecated-flags.ts'
import { flagRows, parseFlags } from './flags.ts'
import { unreadFlags } from './unread-flags.ts'

const future = 'This flag will be removed in a future version.'
const noEffect = 'This flag has no effect now and will be removed in v1.24.'
const https =
  'API Server connections to kubelets always use https. This flag will be removed in 1.22.'
const cloud = 'will be removed in a future version'

type Step = [flag: string, last: number, first: number, before: string, since: string]
/** What a warning begins with, in the last release before a change and in the first after it. */
const steps: Step[] = [
  ['insecure-port', 19, 20, future, noEffect],
  ['insecure-port', 23, 24, noEffect, ''],
  ['port', 19, 20, 'see --secure-port', noEffect],
  ['address', 19, 20, 'see --bind-address', noEffect],
  ['basic-auth-file', 15, 16, '', 'Basic authentication mode is deprecated'],
  ['basic-auth-file', 18, 19, 'Basic authentication mode is deprecated', ''],
  ['apiserver-count', 23, 24, '', 'apiserver-count is deprecated'],
  ['default-watch-cache-size', 24, 25, '', 'watch caches are sized'],
  ['default-watch-cache-size', 36, 37, 'watch caches are sized', 'Watch caches are sized'],
  [
    'enable-logs-handler',
    30,
    31,
    'This flag will be removed in v1.19',
    'This flag will be removed in v1.33',
  ],
  ['enable-logs-handler', 32, 33, 'This flag will be removed in v1.33', 'Log handler'],
  ['enable-logs-handler', 36, 37, 'Log handler', ''],
  ['kubelet-read-only-port', 15, 16, '', 'kubelet-read-only-port is deprecated'],
  ['kubelet-https', 18, 19, '', https],
  ['kubelet-https', 21, 22, https, ''],
  ['target-ram-mb', 18, 19, '', 'This flag will be removed in v1.23'],
  ['deserialization-cache-size', 23, 24, 'the deserialization cache was dropped', ''],
  ['master-service-namespace', 25, 26, '', 'This flag will be removed in v1.27'],
  ['master-service-namespace', 26, 27, 'This flag will be removed in v1.27', ''],
  ['cloud-provider', 28, 29, '', cloud],
  ['cloud-config', 32, 33, cloud, ''],
  ['cloud-provider-gce-lb-src-cidrs', 30, 31, 'This flag will be removed once', ''],
  ['logtostderr', 22, 23, '', 'will be removed in a future release, see https:'],
  ['one-output', 25, 26, 'will be removed in a future release, see https:', ''],
]
for (const [flag, last, first, before, since] of steps)
  for (const [minor, advice] of [
    [last, before],
    [first, since],
  ] as const)
    test(`--${flag} in 1.${minor} gives ${advice === '' ? 'no' : 'a'} warning`, () => {
      const warning = flagWarning(flag, minor) ?? ''
      const expected = advice === '' ? '' : `Flag --${flag} has been deprecated, ${advice}`
      assert.equal(advice === '' ? warning : warning.slice(0, expected.length), expected)
    })

test('a flag that no release deprecates gives no warning', () => {
  assert.equal(flagWarning('secure-port', 22), undefined)
})

test('the parser reports the warnings of the emulated release, one per flag', () => {
  const warningsOf = (...args: string[]) => {
    const parsed = parseFlags(args)
    assert.ok(!('error' in parsed))
    return parsed.warnings.map((line) => line.split(' ')[1])
  }
  assert.deepEqual(warningsOf('--insecure_port=0', '--insecure-port=0', '--secure-port=1'), [
    '--insecure-port',
  ])
  assert.deepEqual(
    warningsOf('--emulated-version=1.21', '--kubelet-https', '--admission-control=ServiceAccount'),
    ['--kubelet-https', '--admission-control'],
  )
  assert.deepEqual(warningsOf('--secure-port=7000'), [])
})

test('every deprecated flag is one that this server knows', () => {
  const unknown = [...deprecations.keys()].filter(
    (name) => !flagRows.has(name) && !unreadFlags.has(name),
  )
  assert.deepEqual(unknown, [])
})
