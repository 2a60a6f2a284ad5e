import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flagRows } from '#settings/flags.ts'
import { flagsTakenByNpm } from './npm-flags.ts'

const start = { npm_lifecycle_event: 'start', npm_config_registry: 'https://registry.example' }
const rows: [args: string[], environment: Record<string, string>, corrected: string | undefined][] =
  [
    [['--secure-port=1'], start, undefined],
    [
      ['--v=2'],
      { ...start, npm_config_storage_backend: 'memory' },
      'npm start -- --storage-backend=memory --v=2',
    ],
    [
      ['/some/dir'],
      { ...start, npm_config_data_dir: 'true', npm_config_secure_port: '7000' },
      'npm start -- --data-dir=/some/dir --secure-port=7000',
    ],
    [[], { ...start, npm_config_anonymous_auth: '' }, 'npm start -- --anonymous-auth=false'],
  ]
for (const [args, environment, corrected] of rows)
  test(`npm start with ${JSON.stringify({ args, environment })}`, () =>
    assert.equal(flagsTakenByNpm(args, environment, flagRows)?.split('\n  ')[1], corrected))
