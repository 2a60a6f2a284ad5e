/**
 * The flags that kube-apiserver deprecates, with the releases and the text of the warning. A
 * deprecated flag that this server accepts causes the warning and has its normal effect.
 */
import { isWithin, type Span } from '#api/releases/change.ts'

interface Deprecation extends Span {
  readonly advice: string
}

const futureVersion = 'This flag will be removed in a future version.'
const noInsecurePort: Deprecation = {
  since: 20,
  until: 23,
  advice: 'This flag has no effect now and will be removed in v1.24.',
}
const klogFlag: Deprecation = {
  since: 23,
  until: 25,
  advice:
    'will be removed in a future release, see https://github.com/kubernetes/enhancements/tree/master/keps/sig-instrumentation/2845-deprecate-klog-specific-flags-in-k8s-components',
}
const cloudFlag: Deprecation = {
  since: 29,
  until: 32,
  advice: 'will be removed in a future version',
}

// biome-ignore format: a table is read by its columns
export const deprecations: ReadonlyMap<string, readonly Deprecation[]> = new Map([
  ['insecure-port', [{ until: 19, advice: futureVersion }, noInsecurePort]],
  ['insecure-bind-address', [{ until: 19, advice: futureVersion }, noInsecurePort]],
  ['port', [{ until: 19, advice: 'see --secure-port instead.' }, noInsecurePort]],
  ['address', [{ until: 19, advice: 'see --bind-address instead.' }, noInsecurePort]],
  ['admission-control', [{ advice: 'Use --enable-admission-plugins or --disable-admission-plugins instead. Will be removed in a future version.' }]],
  ['basic-auth-file', [{ since: 16, until: 18, advice: 'Basic authentication mode is deprecated and will be removed in a future release. It is not recommended for production environments.' }]],
  ['apiserver-count', [{ since: 24, advice: 'apiserver-count is deprecated and will be removed in a future version.' }]],
  ['default-watch-cache-size', [
    { since: 25, until: 36, advice: 'watch caches are sized automatically and this flag will be removed in a future version' },
    { since: 37, advice: 'Watch caches are sized automatically. This flag is no-op and it will be removed in a future version.' },
  ]],
  ['enable-logs-handler', [
    { until: 30, advice: 'This flag will be removed in v1.19' },
    { since: 31, until: 32, advice: 'This flag will be removed in v1.33' },
    { since: 33, until: 36, advice: 'Log handler functionality is deprecated' },
  ]],
  ['kubelet-port', [{ advice: 'kubelet-port is deprecated and will be removed.' }]],
  ['kubelet-read-only-port', [{ since: 16, advice: 'kubelet-read-only-port is deprecated and will be removed.' }]],
  ['kubelet-https', [{ since: 19, until: 21, advice: 'API Server connections to kubelets always use https. This flag will be removed in 1.22.' }]],
  ['target-ram-mb', [{ since: 19, until: 23, advice: 'This flag will be removed in v1.23' }]],
  ['deserialization-cache-size', [{ until: 23, advice: 'the deserialization cache was dropped in 1.13 with support for etcd2' }]],
  ['enable-swagger-ui', [{ until: 23, advice: 'swagger 1.2 support has been removed' }]],
  ['master-service-namespace', [{ since: 26, until: 26, advice: 'This flag will be removed in v1.27' }]],
  ['cloud-provider', [cloudFlag]],
  ['cloud-config', [cloudFlag]],
  ['cloud-provider-gce-lb-src-cidrs', [{ since: 16, until: 30, advice: 'This flag will be removed once the GCE Cloud Provider is removed from kube-apiserver' }]],
  ...['add-dir-header', 'alsologtostderr', 'log-backtrace-at', 'log-dir', 'log-file', 'log-file-max-size', 'logtostderr', 'one-output', 'skip-headers', 'skip-log-headers', 'stderrthreshold']
    .map((name): [string, readonly Deprecation[]] => [name, [klogFlag]]),
])

/** kube-apiserver's warning about a flag; undefined if the release does not deprecate it. */
export function flagWarning(name: string, minor: number): string | undefined {
  const found = deprecations.get(name)?.find((span) => isWithin(span, minor))
  return found && `Flag --${name} has been deprecated, ${found.advice}`
}
