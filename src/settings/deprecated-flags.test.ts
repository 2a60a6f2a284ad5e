import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deprecations, flagWarning } from './deprecated-flags.ts'
import { flagRows, parseFlags } from './flags.ts'
import { unreadFlags } from './unread-flags.ts'

const rows: [name: string, minor: number, warning: string | undefined][] = [
  [
    'insecure-port',
    19,
    'Flag --insecure-port has been deprecated, This flag will be removed in a future version.',
  ],
  [
    'insecure-port',
    20,
    'Flag --insecure-port has been deprecated, This flag has no effect now and will be removed in v1.24.',
  ],
  ['insecure-port', 24, undefined],
  ['kubelet-https', 18, undefined],
  [
    'kubelet-https',
    21,
    'Flag --kubelet-https has been deprecated, API Server connections to kubelets always use https. This flag will be removed in 1.22.',
  ],
  ['kubelet-https', 22, undefined],
  ['apiserver-count', 23, undefined],
  [
    'apiserver-count',
    24,
    'Flag --apiserver-count has been deprecated, apiserver-count is deprecated and will be removed in a future version.',
  ],
  ['logtostderr', 22, undefined],
  ['logtostderr', 26, undefined],
  ['secure-port', 22, undefined],
]
for (const [name, minor, warning] of rows)
  test(`--${name} in 1.${minor} ${warning === undefined ? 'gives no warning' : 'gives a warning'}`, () =>
    assert.equal(flagWarning(name, minor), warning))

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
