/** Metrics of impersonation, of reloaded configuration files, and of feature gates. */
import { createHash } from 'node:crypto'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { featureMetrics } from './feature-metrics.ts'
import { impersonationMetrics } from './impersonation-metrics.ts'
import { Registry } from './registry.ts'
import { reloadMeter } from './reload-metrics.ts'

type Row = 'features' | 'impersonation' | 'reloads'

/** The samples of a release, without buckets and times; a class begins them. */
async function samplesIn(release: number, row: Row): Promise<string[]> {
  const registry = new Registry({ release })
  if (row === 'impersonation') {
    const { attempted, authorized } = impersonationMetrics(registry)
    attempted('legacy', true, 3)
    attempted('', false, 3)
    authorized('user-info', false, 3)
  } else if (row === 'reloads') {
    const loaded = reloadMeter(registry, 'authorization', 'a', () => 5000)
    loaded(true)
    loaded(false)
    reloadMeter(registry, 'authentication', '', () => 5000)(true)
  } else {
    const gates = new Map([
      ['New', { stage: 'ALPHA', on: false }],
      ['Old', { stage: 'GA', on: true }],
    ])
    featureMetrics(registry, gates)
  }
  const lines = (await registry.page()).split('\n')
  const classes = new Set(lines.map((line) => /^# HELP \S+ \[(\w+)\]/.exec(line)?.[1]))
  return [
    ...[...classes].filter((one) => one !== undefined),
    ...lines.filter((line) => /^(?!#).*\}/.test(line) && !/_(bucket|sum)\{/.test(line)),
  ]
}

const attempts = 'apiserver_impersonation_attempts'
const checks = 'apiserver_impersonation_authorization_attempts'
const legacy = '{mode="legacy",decision="allowed"} 1'
const denied = '{mode="",decision="denied"} 1'
const refused = '{mode="user-info",decision="denied"} 1'
const features = [
  'kubernetes_feature_enabled{name="New",stage="ALPHA"} 0',
  'kubernetes_feature_enabled{name="Old",stage=""} 1',
]
const hash = `sha256:${createHash('sha256').update('a').digest('hex')}`
const reload = (of: string, name: string, status: string, id: string, value: number) =>
  `apiserver_${of}_config_controller_automatic_reload${name}{status="${status}",apiserver_id_hash="${id}"} ${value}`
const [last, total] = ['_last_timestamp_seconds', 's_total']
const reloads = [
  reload('authentication', last, 'success', '', 5),
  reload('authentication', total, 'success', '', 1),
  reload('authorization', last, 'success', hash, 5),
  reload('authorization', last, 'failure', hash, 5),
  reload('authorization', total, 'success', hash, 1),
  reload('authorization', total, 'failure', hash, 1),
]
checkBoundaries<Row, string[]>(samplesIn, [
  [
    'impersonation',
    [35, 36],
    'impersonation',
    [],
    [
      'ALPHA',
      `${attempts}_duration_seconds_count${legacy}`,
      `${attempts}_duration_seconds_count${denied}`,
      `${attempts}_total${legacy}`,
      `${attempts}_total${denied}`,
      `${checks}_duration_seconds_count${refused}`,
      `${checks}_total${refused}`,
    ],
  ],
  ['reloads', [29, 30], 'reloads', [], ['ALPHA', ...reloads]],
  ['reloads', [33, 34], 'reloads', ['ALPHA', ...reloads], ['BETA', ...reloads]],
  ['features', [25, 26], 'features', [], ['ALPHA', ...features]],
  ['features', [27, 28], 'features', ['ALPHA', ...features], ['BETA', ...features]],
])
