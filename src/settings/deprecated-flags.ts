/**
 * The flags that kube-apiserver deprecates, with the releases and the text of the warning. A
 * deprecated flag that this server accepts causes the warning and has its normal effect.
 */
import { change, type ReleaseChange, releaseOf, type Span } from '#api/releases/change.ts'

interface Deprecation {
  readonly flag: string
  /** The text of the warning after the name of the flag. */
  readonly advice: string
  /** The releases that warn. Absent: all. */
  readonly only?: ReleaseChange
}

/** A warning that some releases have. */
const some = (flag: string, advice: string, ...spans: Span[]): Deprecation => ({
  flag,
  advice,
  only: change(`the flag --${flag} causes a warning: ${advice}`, ...spans),
})

const futureVersion = 'This flag will be removed in a future version.'
const noEffect = 'This flag has no effect now and will be removed in v1.24.'
const klogAdvice =
  'will be removed in a future release, see https://github.com/kubernetes/enhancements/tree/master/keps/sig-instrumentation/2845-deprecate-klog-specific-flags-in-k8s-components'
const klogFlags = [
  'add-dir-header',
  'alsologtostderr',
  'log-backtrace-at',
  'log-dir',
  'log-file',
  'log-file-max-size',
  'logtostderr',
  'one-output',
  'skip-headers',
  'skip-log-headers',
  'stderrthreshold',
]
const deprecatesKlogFlags = change('the flags of klog, such as --logtostderr, cause a warning', {
  since: 23,
  until: 25,
})
const cloudAdvice = 'will be removed in a future version'

// biome-ignore format: a table is read by its columns
const rows: readonly Deprecation[] = [
  some('insecure-port', futureVersion, { until: 19 }),
  some('insecure-port', noEffect, { since: 20, until: 23 }),
  some('insecure-bind-address', futureVersion, { until: 19 }),
  some('insecure-bind-address', noEffect, { since: 20, until: 23 }),
  some('port', 'see --secure-port instead.', { until: 19 }),
  some('port', noEffect, { since: 20, until: 23 }),
  some('address', 'see --bind-address instead.', { until: 19 }),
  some('address', noEffect, { since: 20, until: 23 }),
  { flag: 'admission-control', advice: 'Use --enable-admission-plugins or --disable-admission-plugins instead. Will be removed in a future version.' },
  some('basic-auth-file', 'Basic authentication mode is deprecated and will be removed in a future release. It is not recommended for production environments.', { since: 16, until: 18 }),
  some('apiserver-count', 'apiserver-count is deprecated and will be removed in a future version.', { since: 24 }),
  some('default-watch-cache-size', 'watch caches are sized automatically and this flag will be removed in a future version', { since: 25, until: 36 }),
  some('default-watch-cache-size', 'Watch caches are sized automatically. This flag is no-op and it will be removed in a future version.', { since: 37 }),
  some('enable-logs-handler', 'This flag will be removed in v1.19', { until: 30 }),
  some('enable-logs-handler', 'This flag will be removed in v1.33', { since: 31, until: 32 }),
  some('enable-logs-handler', 'Log handler functionality is deprecated', { since: 33, until: 36 }),
  { flag: 'kubelet-port', advice: 'kubelet-port is deprecated and will be removed.' },
  some('kubelet-read-only-port', 'kubelet-read-only-port is deprecated and will be removed.', { since: 16 }),
  some('kubelet-https', 'API Server connections to kubelets always use https. This flag will be removed in 1.22.', { since: 19, until: 21 }),
  some('target-ram-mb', 'This flag will be removed in v1.23', { since: 19, until: 23 }),
  some('deserialization-cache-size', 'the deserialization cache was dropped in 1.13 with support for etcd2', { until: 23 }),
  some('enable-swagger-ui', 'swagger 1.2 support has been removed', { until: 23 }),
  some('master-service-namespace', 'This flag will be removed in v1.27', { since: 26, until: 26 }),
  some('cloud-provider', cloudAdvice, { since: 29, until: 32 }),
  some('cloud-config', cloudAdvice, { since: 29, until: 32 }),
  some('cloud-provider-gce-lb-src-cidrs', 'This flag will be removed once the GCE Cloud Provider is removed from kube-apiserver', { since: 16, until: 30 }),
  ...klogFlags.map((flag) => ({ flag, advice: klogAdvice, only: deprecatesKlogFlags })),
]

export const deprecations = Map.groupBy(rows, ({ flag }) => flag)

/** kube-apiserver's warning about a flag; undefined if the release does not deprecate it. */
export function flagWarning(name: string, minor: number): string | undefined {
  const { has } = releaseOf(minor)
  const found = deprecations.get(name)?.find(({ only }) => only === undefined || has(only))
  return found && `Flag --${name} has been deprecated, ${found.advice}`
}
