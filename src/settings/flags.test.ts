/** The command line: accepted values, rejected values and their messages. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { parseCommand } from '#cli/command.ts'
import type { Row } from './flag-row.ts'
import { flagTable, releases } from './flag-table.ts'
import { flagRows, parseFlags, type Settings, settingName } from './flags.ts'
import { commandsPage, flagsPage, helpText, wrap } from '#cli/help.ts'
import { nearest } from './nearest.ts'
import { unreadFlags } from './unread-flags.ts'

const folder = mkdtempSync(join(tmpdir(), 'binnacle-flags-'))
after(() => rmSync(folder, { recursive: true }))
const aFile = join(folder, 'a.pem')
writeFileSync(aFile, 'x')

/** The table as if every flag were implemented. */
const allWired = new Map(
  [...flagRows].map(([name, row]) => [name, { ...row, status: 'wired' as const }]),
)

function settingsOf(argv: string[]): Settings {
  const parsed = parseFlags(argv, allWired)
  assert.ok(!('error' in parsed), 'error' in parsed ? parsed.error : '')
  return parsed.settings
}

const accepted: [argv: string[], setting: keyof Settings, value: unknown][] = [
  [[], 'securePort', 6443],
  [['--secure-port=7000'], 'securePort', 7000],
  [['--secure-port=0'], 'securePort', 0],
  [['--secure-port', '7000'], 'securePort', 7000],
  [['--secure_port', '7000'], 'securePort', 7000],
  [['--secure-port=7000', '--secure-port=7001'], 'securePort', 7001],
  [['--watch-cache'], 'watchCache', true],
  [['--watch-cache=false'], 'watchCache', false],
  [['--watch-cache=F'], 'watchCache', false],
  [['-v=4'], 'v', 4],
  [['--v', '4'], 'v', 4],
  [['--request-timeout=1m30s'], 'requestTimeoutMs', 90_000],
  [['--min-request-timeout=60'], 'minRequestTimeoutSeconds', 60],
  [['--data-dir=some/dir'], 'dataDir', resolve('some/dir')],
  [[], 'dataDir', resolve('binnacle-data')],
  [['--cert-dir=/c'], 'dataDir', resolve('binnacle-data')],
  [['--cert-dir=/c', '--storage-backend=memory'], 'dataDir', '/c'],
  [['--cert-dir=/c', '--etcd-servers=http://a:1'], 'dataDir', '/c'],
  [['--cert-dir=/c', '--etcd-servers=http://a:1', '--data-dir=/d'], 'dataDir', '/d'],
  [['--etcd-servers=http://a:1'], 'dataDir', resolve('binnacle-data')],
  [[], 'storageBackend', 'sqlite'],
  [
    ['--etcd-servers=http://a:2379,http://b:2379'],
    'etcdServers',
    ['http://a:2379', 'http://b:2379'],
  ],
  [
    ['--etcd-servers=http://a:1', '--etcd-servers=http://b:1'],
    'etcdServers',
    ['http://a:1', 'http://b:1'],
  ],
  [['--etcd-servers=http://a:2379'], 'storageBackend', 'etcd3'],
  [['--bind-address=::'], 'bindAddress', '::'],
  [['--tls-cert-file', aFile, '--tls-private-key-file', aFile], 'tlsCertFile', aFile],
  [[], 'tlsCertFile', undefined],
  [[], 'tlsSniCertKey', []],
  [
    [`--tls-sni-cert-key=${aFile},${aFile}`, `--tls-sni-cert-key=${aFile}, ${aFile}: *.x.io ,y`],
    'tlsSniCertKey',
    [
      { certificate: aFile, key: aFile, names: [] },
      { certificate: aFile, key: aFile, names: ['*.x.io', 'y'] },
    ],
  ],
  [[], 'goawayChance', 0],
  [[], 'auditLogMode', 'blocking'],
  [['--audit-webhook-mode=blocking-strict'], 'auditWebhookMode', 'blocking-strict'],
  [['--audit-log-batch-throttle-qps=.5'], 'auditLogBatchThrottleQps', 0.5],
  [[], 'auditWebhookBatchThrottleBurst', 15],
  [
    ['--watch-cache-sizes=pods#10,deployments.apps#0', '--watch-cache-sizes=pods#+7'],
    'watchCacheSizes',
    new Map([
      ['pods', 7],
      ['deployments.apps', 0],
    ]),
  ],
  [['--disabled-metrics=a,b', '--disabled-metrics=c'], 'disabledMetrics', ['a', 'b', 'c']],
  ...[
    ['--allow-metric-labels=m,l=a,b', '--allow-metric-labels=m,k=c'],
    ['--allow-metric-labels="m,l=a,b","m,k=c"'],
    [
      '--allow-metric-labels="m,l=a,b"',
      '--allow-metric-labels=m,k=x',
      '--allow-metric-labels=m,k=c',
    ],
  ].map((argv): [string[], keyof Settings, unknown] => [
    argv,
    'allowMetricLabels',
    new Map([
      [
        'm',
        new Map([
          ['l', new Set(['a', 'b'])],
          ['k', new Set(['c'])],
        ]),
      ],
    ]),
  ]),
  [['--audit-log-compress'], 'auditLogCompress', true],
  [['--audit-webhook-version=audit.k8s.io/v1beta1'], 'auditWebhookVersion', 'audit.k8s.io/v1beta1'],
  [['--audit-log-truncate-max-event-size=9'], 'auditLogTruncateMaxEventSize', 9],
  [[], 'deleteCollectionWorkers', undefined],
  [['--delete-collection-workers=0'], 'deleteCollectionWorkers', 0],
  [['--external-hostname=api.example:77'], 'externalHostname', 'api.example:77'],
  [['--kubernetes-service-node-port=30443'], 'kubernetesServiceNodePort', 30_443],
  [[], 'defaultNotReadyTolerationSeconds', 300],
  [['--default-unreachable-toleration-seconds=9'], 'defaultUnreachableTolerationSeconds', 9],
  [['--goaway-chance=.02'], 'goawayChance', 0.02],
  [['--goaway-chance=0.001'], 'goawayChance', 0.001],
  [['--goaway-chance=1'], 'goawayChance', 1],
  [['--cors-allowed-origins=//a\\.b(:|$),^x'], 'corsAllowedOrigins', ['//a\\.b(:|$)', '^x']],
  [['--cors-allowed-origins='], 'corsAllowedOrigins', []],
  [
    ['--strict-transport-security-directives=max-age=31536000,includeSubDomains'],
    'strictTransportSecurityDirectives',
    ['max-age=31536000', 'includeSubDomains'],
  ],
  [['--http2-max-streams-per-connection=1000'], 'http2MaxStreamsPerConnection', 1000],
  [['--tls-min-version=VersionTLS13'], 'tlsMinVersion', 'VersionTLS13'],
  [
    ['--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256'],
    'tlsCipherSuites',
    ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ],
  [
    ['--service-cluster-ip-range=10.1.0.0/16,fd00::/112'],
    'serviceClusterIpRange',
    ['10.1.0.0/16', 'fd00::/112'],
  ],
  [
    ['--feature-gates=A=true,B=false', '--feature-gates=C=true'],
    'featureGates',
    new Map([
      ['A', true],
      ['B', false],
      ['C', true],
    ]),
  ],
  [
    ['--runtime-config=api/all,batch/v1=false'],
    'runtimeConfig',
    new Map([
      ['api/all', 'true'],
      ['batch/v1', 'false'],
    ]),
  ],
  [
    ['--service-node-port-range=30000-30100'],
    'serviceNodePortRange',
    { first: 30_000, last: 30_100 },
  ],
  [['--service-node-port-range=30000+10'], 'serviceNodePortRange', { first: 30_000, last: 30_010 }],
  [['--request-timeout=1m0.5s'], 'requestTimeoutMs', 60_500],
  [['--event-ttl=100us'], 'eventTtlMs', 0.1],
  [['--authorization-mode=Node,RBAC'], 'authorizationMode', ['Node', 'RBAC']],
  [
    ['--service-account-issuer=a,b', '--service-account-issuer=c'],
    'serviceAccountIssuer',
    ['a,b', 'c'],
  ],
  [['--basic-auth-file', aFile, '--emulated-version=1.18'], 'basicAuthFile', aFile],
  [
    ['--oidc-required-claim=hd=example.org', '--oidc-required-claim=x=y=z'],
    'oidcRequiredClaim',
    new Map([
      ['hd', 'example.org'],
      ['x', 'y=z'],
    ]),
  ],
  [['--etcd-prefix=registry'], 'etcdPrefix', '/registry'],
  [['--etcd-prefix=//some//where/'], 'etcdPrefix', '/some/where'],
  [['--etcd-prefix=/'], 'etcdPrefix', ''],
  [['--emulated-version=v1.19'], 'emulatedVersion', '1.19'],
  [['--emulated-version=1.21.3'], 'emulatedVersion', '1.21'],
]
for (const [argv, setting, value] of accepted)
  test(`${argv.join(' ')} → ${setting}`, () => assert.deepEqual(settingsOf(argv)[setting], value))

/** kube-apiserver's defaults of the flags that have the same meaning here. */
const originals: [flag: keyof typeof flagTable, initial: unknown][] = [
  ['secure-port', 6443],
  ['advertise-address', undefined],
  ['tls-cert-file', undefined],
  ['tls-private-key-file', undefined],
  ['etcd-servers', []],
  ['etcd-prefix', '/registry'],
  ['etcd-cafile', undefined],
  ['etcd-certfile', undefined],
  ['etcd-keyfile', undefined],
  ['request-timeout', 60_000],
  ['min-request-timeout', 1800],
  ['max-requests-inflight', 400],
  ['max-mutating-requests-inflight', 200],
  ['shutdown-delay-duration', 0],
  ['livez-grace-period', 0],
  ['default-watch-cache-size', 100],
  ['watch-cache', true],
  ['event-ttl', 3_600_000],
  ['etcd-compaction-interval', 300_000],
  ['etcd-healthcheck-timeout', 2000],
  ['etcd-count-metric-poll-period', 60_000],
  ['etcd-db-metric-poll-interval', 30_000],
  ['lease-reuse-duration-seconds', 60],
  ['audit-log-mode', 'blocking'],
  ['audit-log-batch-buffer-size', 10_000],
  ['audit-log-batch-max-size', 1],
  ['audit-log-batch-throttle-enable', false],
  ['audit-webhook-mode', 'batch'],
  ['audit-webhook-batch-throttle-enable', true],
  ['audit-webhook-batch-throttle-qps', 10],
  ['audit-webhook-batch-throttle-burst', 15],
  ['v', 0],
]
for (const [flag, initial] of originals)
  test(`--${flag} left out has kube-apiserver's default`, () =>
    assert.deepEqual(flagTable[flag].initial, initial))

/** These differ: the defaults suit one machine, and stored data is readable. */
const ownDefaults: [flag: keyof typeof flagTable, initial: unknown][] = [
  ['bind-address', '127.0.0.1'],
  ['cert-dir', undefined],
  ['storage-media-type', 'application/json'],
  ['service-cluster-ip-range', ['10.0.0.0/16']],
  ['data-dir', 'binnacle-data'],
  ['storage-backend', 'sqlite'],
]
for (const [flag, initial] of ownDefaults)
  test(`--${flag} left out`, () => assert.deepEqual(flagTable[flag].initial, initial))

const refused: [argv: string[], error: string][] = [
  [
    ['--secur-port=1'],
    'unknown flag: --secur-port (did you mean --secure-port?); --help=all lists them all',
  ],
  [['--nothing-like-it'], 'unknown flag: --nothing-like-it; --help=all lists them all'],
  [['secure-port=1'], 'unexpected argument "secure-port=1": flags begin with --'],
  [['--'], 'unexpected argument "--": flags begin with --'],
  [['-p', '1'], 'unknown flag: -p: flags begin with --'],
  [['--secure-port'], '--secure-port needs a value: a whole number, from 0 to 65535'],
  [
    ['--secure-port=65536'],
    '--secure-port: "65536" is not accepted: it wants a whole number, from 0 to 65535',
  ],
  [
    ['--secure-port=1e3'],
    '--secure-port: "1e3" is not accepted: it wants a whole number, from 0 to 65535',
  ],
  [['--watch-cache=maybe'], '--watch-cache: "maybe" is not accepted: it wants true or false'],
  [
    ['--request-timeout=60'],
    '--request-timeout: "60" is not accepted: it wants a duration such as 300ms, 45s or 1h30m',
  ],
  [
    ['--request-timeout=-1s'],
    '--request-timeout: "-1s" is not accepted: it wants a duration such as 300ms, 45s or 1h30m',
  ],
  [
    ['--storage-backend=etcd2'],
    '--storage-backend: "etcd2" is not accepted: it wants one of sqlite, memory, etcd3',
  ],
  [
    [`--authorization-policy-file=${aFile}`],
    '--authorization-policy-file goes with --authorization-mode=ABAC',
  ],
  ...['-1', '1.5', 'x', ''].map((given): [string[], string] => [
    [`--goaway-chance=${given}`],
    `--goaway-chance: ${JSON.stringify(given)} is not accepted: it wants a number from 0 to 1, such as 0.001`,
  ]),
  ...['', 'x', '-1', '1e3'].map((given): [string[], string] => [
    [`--audit-webhook-batch-throttle-qps=${given}`],
    `--audit-webhook-batch-throttle-qps: ${JSON.stringify(given)} is not accepted: it wants a number, 0 or greater, such as 0.5`,
  ]),
  ...['pods', 'pods#', 'pods#-1', 'pods#x', 'pods#1#2'].map((given): [string[], string] => [
    [`--watch-cache-sizes=${given}`],
    `--watch-cache-sizes: ${JSON.stringify(given)} is not accepted: it wants sizes such as pods#1000,deployments.apps#0, each 0 or greater`,
  ]),
  ...['', 'm', 'm,l', 'm=a', '1,l=a', 'm,l=a,k=b'].map((given): [string[], string] => [
    [`--allow-metric-labels=${given}`],
    `--allow-metric-labels: ${JSON.stringify(given)} is not accepted: it wants ${flagTable['allow-metric-labels'].shape.accepts}`,
  ]),
  [['--logging-format=xml'], '--logging-format: "xml" is not accepted: it wants one of text, json'],
  [
    ['--audit-log-mode=Blocking'],
    '--audit-log-mode: "Blocking" is not accepted: it wants one of batch, blocking, blocking-strict',
  ],
  [
    ['--cors-allowed-origins=ok,('],
    '--cors-allowed-origins: "(" is not accepted: it wants a regular expression: error parsing regexp: missing closing ): `(`',
  ],
  ...['a\nb', 'max-age=a\nb', 'preload,', 'max-age', 'max-age=1=2', 'preload,Preload'].map(
    (given): [string[], string] => [
      [`--strict-transport-security-directives=${given}`],
      `--strict-transport-security-directives: ${JSON.stringify(given)} is not accepted: it wants directives separated by commas, such as max-age=31536000,includeSubDomains,preload`,
    ],
  ),
  [
    ['--leader-elect-renew-deadline=15s'],
    '--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline',
  ],
  [
    ['--leader-elect-retry-period=9s'],
    '--leader-elect-renew-deadline must be greater than 1.2 × --leader-elect-retry-period',
  ],
  [['--leader-elect-retry-period=0'], '--leader-elect-retry-period must be greater than zero'],
  ...['59m', '1193046h30m'].map((given): [string[], string] => [
    [`--service-account-max-token-expiration=${given}`],
    '--service-account-max-token-expiration must be between 1 hour and 2^32 seconds, or 0',
  ]),
  [
    ['--kubernetes-service-node-port=80'],
    '--kubernetes-service-node-port: 80 is not of --service-node-port-range, 30000-32767',
  ],
  [
    ['--tls-min-version=1.2'],
    '--tls-min-version: "1.2" is not accepted: it wants one of VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13',
  ],
  [
    ['--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'],
    '--tls-cipher-suites needs TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, for HTTP/2, unless --tls-min-version=VersionTLS13',
  ],
  ...['x', `${aFile}`, `${aFile},${aFile}:`, `${aFile},${aFile},${aFile}`, `${aFile},nope`].map(
    (given): [string[], string] => [
      [`--tls-sni-cert-key=${given}`],
      `--tls-sni-cert-key: ${JSON.stringify(given)} is not accepted: it wants ${flagTable['tls-sni-cert-key'].shape.accepts}`,
    ],
  ),
  [['--storage-backend=etcd3'], '--storage-backend=etcd3 needs --etcd-servers'],
  [
    ['--storage-backend=memory', '--etcd-servers=http://a:1'],
    '--etcd-servers goes with --storage-backend=etcd3, not memory',
  ],
  [
    ['--etcd-servers=a:2379'],
    '--etcd-servers: "a:2379" is not accepted: it wants URLs such as http://127.0.0.1:2379, separated by commas',
  ],
  [
    ['--bind-address=localhost'],
    '--bind-address: "localhost" is not accepted: it wants an IP address',
  ],
  [['--tls-cert-file', aFile], '--tls-cert-file needs --tls-private-key-file as well'],
  [['--tls-private-key-file', aFile], '--tls-private-key-file needs --tls-cert-file as well'],
  [
    ['--tls-cert-file=/no/such'],
    '--tls-cert-file: "/no/such" is not accepted: it wants a file that can be read',
  ],
  [
    ['--emulated-version=1.14'],
    `--emulated-version: "1.14" is not accepted: it wants one of ${releases.join(', ')} (${releases.at(-1)} is the newest)`,
  ],
  [
    ['--basic-auth-file', aFile],
    'unknown flag: --basic-auth-file: release 1.22 does not have it (until 1.18; see --emulated-version)',
  ],
]
for (const [argv, error] of refused)
  test(`${argv.join(' ')} is refused`, () =>
    assert.deepEqual(parseFlags(argv, allWired), { error }))

/** Flags of kube-apiserver that this server does not implement, as in manifests. */
const unread: [argv: string[], error: string | undefined][] = [
  [['--logtostderr'], undefined],
  [['--logtostderr=true', '--alsologtostderr', '--stderrthreshold', 'ERROR'], undefined],
  [['--log_dir=', '--log-flush-frequency=5s', '--vmodule='], undefined],
  [['--insecure-port=0', '--kubelet-https=true', '--cloud-provider='], undefined],
  [
    ['--logtostderr=false'],
    '--logtostderr=false of kube-apiserver is not supported here, only true: the log goes to standard error and nowhere else',
  ],
  [
    ['--log-file', '/var/log/x.log'],
    '--log-file=/var/log/x.log of kube-apiserver is not supported here, only an empty one: the log goes to standard error and nowhere else',
  ],
  [
    ['--skip-headers'],
    '--skip-headers=true of kube-apiserver is not supported here, only false: every line of the log begins with its time and level',
  ],
  [
    ['--cloud-provider=aws'],
    '--cloud-provider=aws of kube-apiserver is not supported here, only an empty one: this server knows no clouds',
  ],
  [
    ['--cloud-provider-gce-lb-src-cidrs=10.0.0.0/8'],
    '--cloud-provider-gce-lb-src-cidrs of kube-apiserver is not supported here: this server knows no clouds',
  ],
  [['--tracing-config-file'], '--tracing-config-file needs a value: text'],
  [
    ['--stderrthreshold=LOUD'],
    '--stderrthreshold=LOUD of kube-apiserver is not supported here, only a severity: the log goes to standard error and nowhere else',
  ],
]
for (const [argv, error] of unread)
  test(`${argv.join(' ')} ${error === undefined ? 'is accepted' : 'is rejected'}`, () => {
    const parsed = parseFlags(argv)
    assert.equal('error' in parsed ? parsed.error : undefined, error)
  })

test('each flag is either implemented or listed as not implemented', () => {
  for (const name of unreadFlags.keys()) assert.ok(!flagRows.has(name), name)
})

for (const bad of [
  '10.0.0.0/8',
  '10.0.0.0/31',
  '10.0.0.0',
  '10.0.0.0/16,10.1.0.0/16',
  'fd00::/64',
  '',
])
  test(`--service-cluster-ip-range=${bad} is refused`, () => {
    const parsed = parseFlags([`--service-cluster-ip-range=${bad}`])
    assert.match('error' in parsed ? parsed.error : '', /^--service-cluster-ip-range: ".*" is not/)
  })

const rows = Object.entries(flagTable) as [string, Row<unknown>][]

/**
 * Flags that accept any text or names that are checked at the start; one that 1.22 does not have.
 */
const takesAnyText = [
  'admission-control',
  'api-audiences',
  'audit-log-path',
  'authentication-config',
  'authorization-config',
  'basic-auth-file',
  'controllers',
  'cors-allowed-origins',
  'disable-admission-plugins',
  'disabled-metrics',
  'enable-admission-plugins',
  'etcd-prefix',
  'oidc-client-id',
  'oidc-groups-claim',
  'oidc-groups-prefix',
  'oidc-username-claim',
  'oidc-username-prefix',
  'requestheader-allowed-names',
  'requestheader-extra-headers-prefix',
  'requestheader-group-headers',
  'requestheader-uid-headers',
  'requestheader-username-headers',
  'runtime-config',
]
test('every flag rejects an invalid value in one line with its name and the accepted values', () => {
  const odd = ['\u0000', '%%', '/no/such/file/anywhere', '-1', '']
  const taking: string[] = []
  for (const [name] of rows) {
    const errors = odd.flatMap((value) => {
      const parsed = parseFlags([`--${name}=${value}`], allWired)
      return 'error' in parsed ? [parsed.error] : []
    })
    for (const error of errors) {
      assert.equal(error.split('\n').length, 1, error)
      assert.ok(error.includes(`--${name}`), `${name}: ${error}`)
    }
    if (!errors.some((error) => /is not accepted: it wants \S/.test(error))) taking.push(name)
  }
  assert.deepEqual(taking.sort(), takesAnyText)
})

test('a flag without effect is rejected', () => {
  const unwired = new Map([...flagRows, ['v', { ...flagTable.v, status: 'unwired' as const }]])
  assert.deepEqual(parseFlags(['--v=2'], unwired), {
    error: '--v has no effect in this version of binnacle: leave it out',
  })
})

test('every default is parsed back as itself', () => {
  for (const [name, row] of rows) {
    if (row.initial === undefined || row.shape.show(row.initial) === '') continue
    const shown = row.shape.show(row.initial)
    assert.equal(
      row.shape.show(row.shape.read(shown, undefined)),
      name === 'data-dir' ? resolve(shown) : shown,
      name,
    )
  }
})

test('no two flags share a setting', () => {
  const names = rows.map(([name]) => settingName(name))
  assert.equal(new Set(names).size, names.length)
})

test('help lists every flag that has an effect, within its width', () => {
  const help = helpText('all', 100) ?? ''
  for (const [name, row] of rows)
    assert.equal(new RegExp(`^  --${name}(=|$)`, 'm').test(help), row.status === 'wired', name)
  for (const line of help.split('\n')) assert.ok(line.length <= 100, line)
})

for (const [page, text] of [
  ['flags', flagsPage()],
  ['commands', commandsPage()],
])
  test(`docs/${page}.md is the table`, () => {
    const path = resolve(import.meta.dirname, `../../docs/${page}.md`)
    assert.equal(readFileSync(path, 'utf8'), text)
  })

test('wrap breaks between words', () => {
  assert.deepEqual(wrap('one two three', 7), ['one two', 'three'])
  assert.deepEqual(wrap('averylongword x', 5), ['averylongword', 'x'])
})

test('a near name is suggested, or none', () => {
  assert.equal(nearest('audit-log-pth', ['audit-log-path', 'v']), 'audit-log-path')
  assert.equal(nearest('zzz', ['audit-log-path']), undefined)
  assert.equal(nearest('x'.repeat(5000), ['audit-log-path']), undefined)
})

const commands: [argv: string[], expected: string][] = [
  [[], 'start'],
  [['start', '--v=1'], 'start'],
  [['--v=1'], 'start'],
  [['--help'], 'help'],
  [['--nonsense', '-h'], 'help'],
  [['--version'], 'version'],
  [['backup', '/some/file', '--data-dir=/x'], 'run'],
  [['kubeconfig', '--user', 'alice', '--group=dev', '--group', 'ops', '--data-dir', '/x'], 'run'],
  [['kubeconfig', '--user', 'alice', '--user', 'bob'], 'refuse'],
  [['kubeconfig', '--user'], 'refuse'],
  [['check', '-f', 'manifests', '--emulated-version=1.37'], 'run'],
  [['check'], 'refuse'],
  [['migrate', '--help'], 'help'],
  [['backup'], 'refuse'],
  [['backup', '--data-dir=/x'], 'refuse'],
  [['backup', 'f', '--storage-backend=memory'], 'refuse'],
  [['restore'], 'refuse'],
]
for (const [argv, expected] of commands)
  test(`binnacle ${argv.join(' ')}`, () => assert.equal(parseCommand(argv).command, expected))
