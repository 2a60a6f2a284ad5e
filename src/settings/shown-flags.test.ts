import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFlags } from './flags.ts'
import { shownFlags } from './shown-flags.ts'

const rows: [flag: string, release: number, shown: string | undefined][] = [
  ['secure-port', 37, '7000'],
  ['request-timeout', 37, '1m30s'],
  ['goaway-chance', 17, undefined],
  ['goaway-chance', 18, '0'],
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
