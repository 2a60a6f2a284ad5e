import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { parseFlags } from './flags.ts'
import { shownFlags } from './shown-flags.ts'

const rows: [flag: string, release: number, shown: string | undefined][] = [
  ['secure-port', 37, '7000'],
  ['request-timeout', 37, '1m30s'],
  ['basic-auth-file', 37, undefined],
  ['authentication-config', 37, ''],
  ['watch-cache', 37, 'true'],
]
for (const [flag, release, shown] of rows)
  test(`1.${release}: the value of --${flag}`, () => {
    const parsed = parseFlags(['--secure-port=7000', '--request-timeout=90s'])
    if ('error' in parsed) throw new Error(parsed.error)
    assert.equal(shownFlags(parsed.settings, release)[flag], shown)
  })

const shownIn = (release: number, flag: string): boolean => {
  const parsed = parseFlags([])
  if ('error' in parsed) throw new Error(parsed.error)
  return flag in shownFlags(parsed.settings, release)
}
checkBoundaries(shownIn, [
  ['enable-priority-and-fairness', [17, 18], 'enable-priority-and-fairness', false, true],
  ['goaway-chance', [17, 18], 'goaway-chance', false, true],
  ['basic-auth-file', [18, 19], 'basic-auth-file', true, false],
  ['strict transport', [19, 20], 'strict-transport-security-directives', false, true],
  ['extended tokens', [19, 20], 'service-account-extend-token-expiration', false, true],
  ['authentication-config', [28, 29], 'authentication-config', false, true],
  ['authorization-config', [28, 29], 'authorization-config', false, true],
])
