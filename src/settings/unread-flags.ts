/**
 * Flags of kube-apiserver that this server does not implement. A flag is accepted if its value
 * describes what the server does anyway. All others are rejected with the reason. Loaded only if
 * such a flag is specified.
 */

export interface UnreadFlag {
  /** The accepted values, as typed. Undefined: no value is accepted. */
  readonly same: RegExp | undefined
  /** The accepted values in words, for errors that say "only …". Empty if no value is accepted. */
  readonly words: string
  /** The reason for the restriction. */
  readonly why: string
  /** Whether the flag is a boolean, so that the value can be omitted. */
  readonly isSwitch: boolean
}

const none = (why: string): UnreadFlag => ({ same: undefined, words: '', why, isSwitch: false })
const only = (words: string, same: RegExp, why: string): UnreadFlag => ({
  same,
  words,
  why,
  isSwitch: false,
})
const yes = /^(1|t|T|true|TRUE|True)$/
const no = /^(0|f|F|false|FALSE|False)$/
const on = (why: string): UnreadFlag => ({ same: yes, words: 'true', why, isSwitch: true })
const off = (why: string): UnreadFlag => ({ same: no, words: 'false', why, isSwitch: true })
const either = (why: string): UnreadFlag => ({
  same: /^(1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$/,
  words: 'true or false',
  why,
  isSwitch: true,
})

const toStandardError = 'the log goes to standard error and nowhere else'
const noFiles = 'no files of the log are written'
const noCloud = 'this server knows no clouds'
const noIdentity = 'servers that share an etcd know each other by other leases, of fixed lengths'
const noPlainText = 'nothing is served without TLS'

// biome-ignore format: a table is read by its columns
export const unreadFlags: ReadonlyMap<string, UnreadFlag> = new Map([
  ['logtostderr', on(toStandardError)],
  ['alsologtostderr', either(toStandardError)],
  ['stderrthreshold', only('a severity', /^([0-3]|INFO|WARNING|ERROR|FATAL)$/i, toStandardError)],
  ['log-dir', only('an empty one', /^$/, toStandardError)],
  ['log-file', only('an empty one', /^$/, toStandardError)],
  ['log-file-max-size', only('a whole number', /^\d+$/, noFiles)],
  ['log-flush-frequency', only('a duration', /^(\d+(\.\d*)?(h|m|s|ms|us|µs|ns))+$|^0$/, 'every line of the log is written at once')],
  ['log-backtrace-at', only(':0', /^(:0)?$/, 'what is logged of an error has its trace')],
  ['one-output', either(noFiles)],
  ['skip-log-headers', either(noFiles)],
  ['skip-headers', off('every line of the log begins with its time and level')],
  ['add-dir-header', off('lines of the log do not name the code that wrote them')],
  ['vmodule', only('an empty one', /^$/, 'one --v is for the whole server')],
  ['experimental-logging-sanitization', off('nothing is taken out of the log: secrets are not written to it')],

  ['cloud-provider', only('an empty one', /^$/, noCloud)],
  ['cloud-config', only('an empty one', /^$/, noCloud)],
  ['cloud-provider-gce-lb-src-cidrs', none(noCloud)],
  ['cloud-provider-gce-l7lb-src-cidrs', none(noCloud)],
  ['egress-selector-config-file', only('an empty one', /^$/, 'calls to nodes, webhooks and other servers are made directly')],
  ['etcd-servers-overrides', only('an empty one', /^$/, 'all resources are in one etcd')],
  ['identity-lease-duration-seconds', none(noIdentity)],
  ['identity-lease-renew-interval-seconds', none(noIdentity)],
  ['tracing-config-file', only('an empty one', /^$/, 'no traces are made')],
  ['audit-dynamic-configuration', off('records are sent where the flags of the audit log and webhook say')],
  ['enable-inflight-quota-handler', off('it never did anything; --enable-priority-and-fairness shares out requests')],
  ['contention-profiling', off('there are no locks to contend for')],
  ['master-service-namespace', only('default', /^default$/, 'the service kubernetes is in the namespace default')],
  ['max-connection-bytes-per-sec', only('0', /^0$/, 'connections are as fast as both their ends')],

  ['insecure-port', only('0', /^0$/, noPlainText)],
  ['port', only('0', /^0$/, noPlainText)],
  ['insecure-bind-address', only('127.0.0.1', /^127\.0\.0\.1$/, noPlainText)],
  ['address', only('127.0.0.1', /^127\.0\.0\.1$/, noPlainText)],
  ['permit-address-sharing', either('an address may always be listened on again while connections of an earlier server end')],
  ['kubelet-https', on('kubelets are called over TLS')],
  ['kubelet-port', only('10250', /^10250$/, 'nodes say themselves at which port their kubelet is')],
  ['kubelet-read-only-port', only('10255', /^10255$/, 'kubelets are called over TLS')],
  ['enable-swagger-ui', off('there is no /swagger-ui')],
  ['enable-logs-handler', off('there is no /logs')],
  ['target-ram-mb', only('0', /^0$/, 'memory is bounded by the limits of each part')],
  ['deserialization-cache-size', only('0', /^0$/, 'objects are kept as the bytes they came as')],
])

/** Why a flag cannot have this value; undefined if it can. */
export function unreadProblem(name: string, flag: UnreadFlag, value: string): string | undefined {
  if (flag.same?.test(value)) return undefined
  return flag.words === ''
    ? `--${name} of kube-apiserver is not supported here: ${flag.why}`
    : `--${name}=${value} of kube-apiserver is not supported here, only ${flag.words}: ${flag.why}`
}
