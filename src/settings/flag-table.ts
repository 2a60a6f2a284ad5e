/**
 * Every flag: group, type, default, whether the server implements it, and its description. Names
 * and meanings are kube-apiserver's if it has the flag. `storage-backend` has additional values;
 * `data-dir`, `emulated-version` and `controllers` exist only here. This file contains only data;
 * flags.ts parses the command line.
 */
import { type Row, row, some, unset } from './flag-row.ts'
import * as value from './flag-value.ts'

/** The releases that `--emulated-version` accepts, oldest first. */
// biome-ignore format: one line per decade
export const releases = [
  '1.15', '1.16', '1.17', '1.18', '1.19',
  '1.20', '1.21', '1.22', '1.23', '1.24', '1.25', '1.26', '1.27', '1.28', '1.29',
  '1.30', '1.31', '1.32', '1.33', '1.34', '1.35', '1.36', '1.37',
] as const
export type Release = (typeof releases)[number]

const release: value.FlagType<Release> = {
  ...value.choice(...releases),
  accepts: `one of ${releases.join(', ')} (${releases.at(-1)} is the newest)`,
  word: 'RELEASE',
  read(given) {
    const plain = /^(?:kube=)?v?(\d+\.\d+)(?:\.\d+)?$/.exec(given)?.[1]
    return releases.find((known) => known === plain)
  },
}

const minor: value.FlagType<string> = {
  accepts: 'a release such as 1.21',
  word: 'RELEASE',
  unit: '',
  read: (given) => (/^\d+\.\d+$/.test(given) ? given : undefined),
  show: (stated) => stated,
}

const signingAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
] as const

const auditVersion = value.choice(
  'audit.k8s.io/v1',
  'audit.k8s.io/v1beta1',
  'audit.k8s.io/v1alpha1',
)
const auditMode = value.choice('batch', 'blocking', 'blocking-strict')
const addressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'] as const
const day = 24 * 3_600_000

// biome-ignore format: a table is read by its columns
export const flagTable = {
  'secure-port': row('Serving', value.port, 6443, 'wired', 'The port of HTTPS; 0 for one that is free.'),
  'bind-address': row('Serving', value.address, '127.0.0.1', 'wired', 'The address to listen on; 0.0.0.0 or :: for all.'),
  'advertise-address': unset('Serving', value.address, 'wired', 'The address that other machines reach this server at: in the endpoints of the kubernetes service and in the certificate. The bind address when unset or 0.0.0.0, or the first of the machine where that is 0.0.0.0 too.'),
  'external-hostname': unset('Serving', value.hostName, 'wired', '| The name by which clients should reach this server, with a port if it is another: in discovery, in the discovery document of OpenID and in the certificate. The address it listens on when unset.'),
  'cert-dir': unset('Serving', value.path, 'wired', 'Where certificates and keys are kept when none are given; pki in the data directory when unset.'),
  'tls-cert-file': unset('Serving', value.file, 'wired', 'The serving certificate with its chain, PEM. Made here when unset.'),
  'tls-private-key-file': unset('Serving', value.file, 'wired', 'The key of --tls-cert-file, PEM.'),
  'tls-sni-cert-key': row('Serving', value.namedFiles, [], 'wired', 'A further certificate with its key, PEM, for clients that call the server by the names after the colon, or where there are none by those in the certificate.'),
  'tls-cipher-suites': row('Serving', value.list('names of cipher suites separated by commas', 'NAME,…'), [], 'wired', 'The cipher suites of TLS 1.2 that clients may use; those of TLS 1.3 are always there. The usual ones when unset.'),
  'tls-min-version': row('Serving', value.choice('VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'), 'VersionTLS12', 'wired', 'The oldest version of TLS that clients may use.'),
  'http2-max-streams-per-connection': row('Serving', value.whole(0, 2 ** 31 - 1), 0, 'wired', 'How many requests one connection of HTTP/2 may have under way; 0 for 250.'),
  'shutdown-delay-duration': row('Serving', value.duration, 0, 'wired', 'How long to go on serving after a signal to stop, while /readyz already says no.'),
  'permit-port-sharing': row('Serving', value.bool, false, 'wired', 'Whether other servers that permit it too may listen on the same port: the system gives each some of the connections.'),
  'livez-grace-period': row('Serving', value.duration, 0, 'wired', 'How long /livez forgives a start that has not finished.'),

  'data-dir': row('Storage', value.path, 'binnacle-data', 'wired', 'Where the state is: database, certificates, kubeconfig. --cert-dir when unset, where that is given and objects are kept in memory or etcd.'),
  'storage-backend': row('Storage', value.choice('sqlite', 'memory', 'etcd3'), 'sqlite', 'wired', 'Where objects are kept; etcd3 when --etcd-servers is given.'),
  'etcd-servers': row('Storage', value.etcdUrls, [], 'wired', 'The members of the etcd cluster.'),
  'etcd-prefix': row('Storage', value.keyPrefix, '/registry', 'wired', 'What every key in the store begins with.'),
  'etcd-cafile': unset('Storage', value.file, 'wired', 'The authorities that sign the certificates of etcd.'),
  'etcd-certfile': unset('Storage', value.file, 'wired', 'The client certificate to show to etcd.'),
  'etcd-keyfile': unset('Storage', value.file, 'wired', 'The key of --etcd-certfile.'),
  'etcd-compaction-interval': row('Storage', value.duration, 300_000, 'wired', 'How long the history of the store is kept, at least; 0 keeps it for ever.'),
  'etcd-healthcheck-timeout': row('Storage', value.duration, 2000, 'wired', 'How long etcd may take to say that it is well before /livez and /readyz say that it is not; 0 for 2s.'),
  'etcd-count-metric-poll-period': row('Storage', value.duration, 60_000, 'wired', 'How often objects are counted for the metrics, at most; 0 for never.'),
  'etcd-db-metric-poll-interval': row('Storage', value.duration, 30_000, 'wired', 'How often etcd is queried for the metrics of the size of its file, at most; 0 for never.'),
  'lease-reuse-duration-seconds': row('Storage', value.count, 60, 'wired', 'How long events share one lease of etcd, at most: less makes fewer of them end at once.'),
  'encryption-provider-config': unset('Storage', value.file, 'wired', 'An EncryptionConfiguration: which resources are enciphered in the store, and by which keys (aescbc, aesgcm, secretbox, identity; kms is refused).'),
  'storage-media-type': row('Storage', value.choice('application/json', 'application/vnd.kubernetes.protobuf'), 'application/json', 'wired', 'The form of objects in the store.'),
  'event-ttl': row('Storage', value.duration, 3_600_000, 'wired', 'How long events are kept.'),
  'watch-cache': row('Storage', value.bool, true, 'wired', 'Whether reads and watches are served from memory.'),
  'default-watch-cache-size': row('Storage', value.count, 100, 'wired', 'How many recent changes of a kind a watch may start from, at least.'),
  'watch-cache-sizes': row('Storage', value.sizes, new Map(), 'wired', 'The same for some resources, by their names; 0: reads of it go to the store.'),
  'delete-collection-workers': unset('Storage', value.count, 'wired', 'How many objects of a collection are deleted at once. When unset as many as fill a write to the disk, and one after the other where one may end it.'),

  'backup-interval': row('Storage', value.duration, 0, 'wired', 'How often the server writes a backup (binnacle restore reads it); 0 for never. With several servers on one etcd, set it on one of them.'),
  'backup-keep': row('Storage', value.positive, 7, 'wired', 'How many of these backups are kept; older ones are deleted.'),
  'backup-dir': unset('Storage', value.path, 'wired', 'Where these backups are written; backups in the data directory when unset. Better on another disk.'),
  'cluster-secret-file': unset('Storage', value.file, 'wired', 'A file with a secret of at least 16 characters, the same for all servers on one etcd: the first one keeps the authority and the token key in etcd, enciphered with the secret, and the others take them from there.'),

  'request-timeout': row('Requests', value.duration, 60_000, 'wired', 'The longest that a request may take, watches aside.'),
  'min-request-timeout': row('Requests', value.seconds, 1800, 'wired', 'The shortest time a watch stays open if the client requests none; the end is chosen between this and twice as long.'),
  'max-requests-inflight': row('Requests', value.count, 400, 'wired', 'How many requests that only read may run at once; 0 for no limit.'),
  'max-mutating-requests-inflight': row('Requests', value.count, 200, 'wired', 'How many requests that write may run at once; 0 for no limit.'),
  'enable-priority-and-fairness': row('Requests', value.bool, true, 'wired', 'Whether flow schemas and priority levels share out the requests that may run at once.', some('enable-priority-and-fairness', { since: 18 })),
  'goaway-chance': row('Requests', value.chance, 0, 'wired', 'Of how many requests over HTTP/2 the connection takes no further ones, so that its client comes anew, perhaps to another server: .001 is one in a thousand, and .02 the most that is sensible; 0 for none.', some('goaway-chance', { since: 18 })),
  'cors-allowed-origins': row('Requests', value.list('regular expressions separated by commas, such as //example\\.org(:|$)', 'PATTERN,…'), [], 'wired', 'Pages of other origins that may call the server from a browser: each expression may match any part of the origin.'),
  'strict-transport-security-directives': row('Requests', value.directives, [], 'wired', '| The HSTS header of every response: max-age=31536000,includeSubDomains,preload.', some('strict-transport-security-directives', { since: 20 })),

  'emulated-version': row('Release and features', release, '1.22', 'wired', 'The release of Kubernetes to be: its groups, versions, fields, defaults and warnings.'),
  'runtime-config': row('Release and features', value.pairs('pairs such as batch/v2alpha1=true or api/beta=false', 'true'), new Map(), 'wired', 'Groups, versions and resources to turn on or off.'),
  'feature-gates': row('Release and features', value.switches, new Map(), 'wired', 'Features to turn on or off.'),

  'service-cluster-ip-range': row('Services', value.serviceBlocks, ['10.0.0.0/16'], 'wired', 'The addresses that services get.'),
  'service-node-port-range': row('Services', value.portRange, { first: 30_000, last: 32_767 }, 'wired', 'The node ports that services get.'),
  'kubernetes-service-node-port': row('Services', value.whole(0, 65_535), 0, 'wired', 'The port on every node that leads to the kubernetes service, of --service-node-port-range; 0 for none.'),
  'endpoint-reconciler-type': row('Services', value.choice('lease', 'master-count', 'none'), 'lease', 'wired', 'How servers that share an etcd determine the endpoints of the kubernetes service: by leases that each renews, by counting as many as there are, or not at all, if another program writes them.'),
  'apiserver-count': row('Services', value.positive, 1, 'wired', 'How many servers there are, where they are counted.'),
  'allow-privileged': row('Services', value.bool, true, 'wired', 'Whether pods may have privileged containers.'),

  'anonymous-auth': row('Authentication', value.bool, true, 'wired', 'Whether requests without credentials go on as system:anonymous.'),
  'client-ca-file': unset('Authentication', value.file, 'wired', 'Authorities whose client certificates are believed: common name = user, organizations = groups.'),
  'token-auth-file': unset('Authentication', value.file, 'wired', 'Static tokens, one a line: token,user,uid,"group1,group2".'),
  'basic-auth-file': unset('Authentication', value.file, 'wired', 'Passwords, one a line: password,user,uid,"group1,group2".', some('basic-auth-file', { until: 18 })),
  'enable-bootstrap-token-auth': row('Authentication', value.bool, false, 'wired', 'Whether Secrets of type bootstrap.kubernetes.io/token in kube-system are credentials.'),
  'authentication-config': unset('Authentication', value.file, 'wired', 'A file that names issuers of web tokens, maps their claims, and limits anonymous requests. Read again when it changes.', some('authentication-config', { since: 29 })),

  'service-account-key-file': row('Service accounts', value.files, [], 'wired', 'Keys that verify the tokens of service accounts, PEM, RSA or ECDSA. The signing key when unset.'),
  'service-account-signing-key-file': unset('Service accounts', value.file, 'wired', 'The private key that signs tokens; made here when unset.'),
  'service-account-issuer': row('Service accounts', value.repeated, ['https://kubernetes.default.svc'], 'wired', 'The issuer of tokens; the first signs, all are believed.'),
  'service-account-jwks-uri': unset('Service accounts', value.url, 'wired', 'The address of the public keys in the discovery document.'),
  'api-audiences': row('Service accounts', value.list(), [], 'wired', 'Who tokens may be for; the issuers when unset.'),
  'service-account-lookup': row('Service accounts', value.bool, true, 'wired', 'Whether the account and Secret behind a token must still exist.'),
  'service-account-max-token-expiration': row('Service accounts', value.duration, 0, 'wired', 'The longest life a requested token may have, an hour or more; 0 for no limit.'),
  'service-account-extend-token-expiration': row('Service accounts', value.bool, true, 'wired', 'Whether tokens injected into pods live longer than requested.', some('service-account-extend-token-expiration', { since: 20 })),

  'oidc-issuer-url': unset('OpenID Connect', value.url, 'wired', 'The provider; its discovery document is below it.'),
  'oidc-client-id': unset('OpenID Connect', value.text, 'wired', 'Who tokens must be for.'),
  'oidc-username-claim': row('OpenID Connect', value.text, 'sub', 'wired', 'The claim that is the user name.'),
  'oidc-username-prefix': unset('OpenID Connect', value.text, 'wired', 'What goes before user names; - for nothing. The issuer and # when unset, except for email.'),
  'oidc-groups-claim': unset('OpenID Connect', value.text, 'wired', 'The claim that lists groups.'),
  'oidc-groups-prefix': unset('OpenID Connect', value.text, 'wired', 'What goes before group names.'),
  'oidc-required-claim': row('OpenID Connect', value.pairs('a pair such as hd=example.org; the flag may be given several times'), new Map(), 'wired', 'Claims a token must have, with their values.'),
  'oidc-ca-file': unset('OpenID Connect', value.file, 'wired', 'The authority of the provider; the machine\'s when unset.'),
  'oidc-signing-algs': row('OpenID Connect', value.choices(...signingAlgorithms), ['RS256'], 'wired', 'The signatures that are believed.'),

  'authentication-token-webhook-config-file': unset('Webhook authentication and authenticating proxy', value.file, 'wired', 'A kubeconfig that leads to the service that knows tokens.'),
  'authentication-token-webhook-cache-ttl': row('Webhook authentication and authenticating proxy', value.duration, 120_000, 'wired', 'How long its answers are kept.'),
  'authentication-token-webhook-version': row('Webhook authentication and authenticating proxy', value.choice('v1beta1', 'v1'), 'v1beta1', 'wired', 'The version of TokenReview to speak with it.'),
  'requestheader-client-ca-file': unset('Webhook authentication and authenticating proxy', value.file, 'wired', 'Authorities of proxies whose headers say who the user is.'),
  'requestheader-allowed-names': row('Webhook authentication and authenticating proxy', value.list(), [], 'wired', 'Common names such a proxy may have; any when unset.'),
  'requestheader-username-headers': row('Webhook authentication and authenticating proxy', value.list(), [], 'wired', 'Headers that carry the user name, the first found counts.'),
  'requestheader-uid-headers': row('Webhook authentication and authenticating proxy', value.list(), [], 'wired', 'Headers that carry the uid, the first found counts; aggregated servers need X-Remote-Uid.', some('requestheader-uid-headers', { since: 32 })),
  'requestheader-group-headers': row('Webhook authentication and authenticating proxy', value.list(), [], 'wired', 'Headers that carry groups.'),
  'requestheader-extra-headers-prefix': row('Webhook authentication and authenticating proxy', value.list(), [], 'wired', 'What headers with further facts begin with.'),

  'authorization-mode': row('Authorization', value.choices('AlwaysAllow', 'AlwaysDeny', 'RBAC', 'Node', 'Webhook', 'ABAC'), ['RBAC'], 'wired', 'The authorizers, in the order in which they decide.'),
  'authorization-config': unset('Authorization', value.file, 'wired', 'A file that names the authorizers in order, several webhooks among them. Read again when it changes.', some('authorization-config', { since: 29 })),
  'authorization-policy-file': unset('Authorization', value.file, 'wired', 'The rules of ABAC, one JSON object a line.'),
  'authorization-webhook-config-file': unset('Authorization', value.file, 'wired', 'A kubeconfig that leads to the service that decides.'),
  'authorization-webhook-version': row('Authorization', value.choice('v1beta1', 'v1'), 'v1beta1', 'wired', 'The version of SubjectAccessReview to speak with it.'),
  'authorization-webhook-cache-authorized-ttl': row('Authorization', value.duration, 300_000, 'wired', 'How long its yes is kept.'),
  'authorization-webhook-cache-unauthorized-ttl': row('Authorization', value.duration, 30_000, 'wired', 'How long its no is kept.'),

  'enable-admission-plugins': row('Admission', value.list(), [], 'wired', 'Plugins to add to those that are on by default.'),
  'disable-admission-plugins': row('Admission', value.list(), [], 'wired', 'Plugins to take from those that are on by default.'),
  'default-not-ready-toleration-seconds': row('Admission', value.count, 300, 'wired', 'How long pods that say nothing about it stay on a node that is not ready.'),
  'default-unreachable-toleration-seconds': row('Admission', value.count, 300, 'wired', 'How long pods that say nothing about it stay on a node that cannot be reached.'),
  'admission-control': unset('Admission', value.list(), 'wired', 'The plugins that are on, and no others. Deprecated: it does not go with the two flags above.'),
  'admission-control-config-file': unset('Admission', value.file, 'wired', 'Configuration of plugins, kubeconfigs for webhooks among it.'),

  'audit-policy-file': unset('Audit', value.file, 'wired', 'What is recorded, and how much of it.'),
  'audit-log-path': unset('Audit', value.text, 'wired', 'The file that records go to; - for standard output.'),
  'audit-log-maxage': unset('Audit', value.count, 'wired', 'Days that old files are kept; 0 for ever. The default is 366 from release 1.36 on, and 0 before.'),
  'audit-log-maxbackup': unset('Audit', value.count, 'wired', 'How many old files are kept; 0 for all. The default is 100 from release 1.36 on, and 0 before.'),
  'audit-log-maxsize': row('Audit', value.count, 0, 'wired', 'Megabytes after which a new file begins; 0 for 100.'),
  'audit-log-format': row('Audit', value.choice('json', 'legacy'), 'json', 'wired', 'One JSON object a line, or one line of text.'),
  'audit-log-compress': row('Audit', value.bool, false, 'wired', 'Whether old files are compressed, by gzip.'),
  'audit-log-mode': row('Audit', auditMode, 'blocking', 'wired', 'When records are written: batch, while requests go on; blocking, before their answers leave; blocking-strict, also before anything is done for a request, and one that cannot be recorded is refused.'),
  'audit-log-batch-buffer-size': row('Audit', value.count, 10_000, 'wired', 'How many records may wait to be written in mode batch; more are lost and counted.'),
  'audit-log-batch-max-size': row('Audit', value.count, 1, 'wired', 'How many are written at once, at most, in mode batch.'),
  'audit-log-batch-max-wait': row('Audit', value.duration, 0, 'wired', 'How long a record waits for others, at most, in mode batch.'),
  'audit-log-batch-throttle-enable': row('Audit', value.bool, false, 'wired', 'Whether so many batches a second are written and no more, in mode batch.'),
  'audit-log-batch-throttle-qps': row('Audit', value.rate, 0, 'wired', 'How many batches a second that is.'),
  'audit-log-batch-throttle-burst': row('Audit', value.count, 0, 'wired', 'How many batches may go at once after a pause.'),
  'audit-log-version': row('Audit', auditVersion, 'audit.k8s.io/v1', 'wired', 'The version of the records.'),
  'audit-log-truncate-enabled': row('Audit', value.bool, false, 'wired', 'Whether records of the file that are too large lose what was sent and answered.'),
  'audit-log-truncate-max-event-size': row('Audit', value.positive, 102_400, 'wired', 'Bytes from which on a record is too large; one that is even then is lost and counted.'),
  'audit-log-truncate-max-batch-size': row('Audit', value.positive, 10_485_760, 'wired', 'No less than a record may have. Records are looked at one by one, so that none is kept from its batch by it.'),
  'audit-webhook-config-file': unset('Audit', value.file, 'wired', 'A kubeconfig that leads to the service that records are sent to.'),
  'audit-webhook-initial-backoff': row('Audit', value.duration, 10_000, 'wired', 'How long to wait before the first repetition.'),
  'audit-webhook-batch-buffer-size': row('Audit', value.count, 10_000, 'wired', 'How many records may wait to be sent; more are lost and counted.'),
  'audit-webhook-batch-max-size': row('Audit', value.count, 400, 'wired', 'How many are sent at once, at most.'),
  'audit-webhook-batch-max-wait': row('Audit', value.duration, 30_000, 'wired', 'How long a record waits for others, at most.'),
  'audit-webhook-batch-throttle-enable': row('Audit', value.bool, true, 'wired', 'Whether so many batches a second are sent and no more, in mode batch.'),
  'audit-webhook-batch-throttle-qps': row('Audit', value.rate, 10, 'wired', 'How many batches a second that is.'),
  'audit-webhook-batch-throttle-burst': row('Audit', value.count, 15, 'wired', 'How many batches may go at once after a pause.'),
  'audit-webhook-mode': row('Audit', auditMode, 'batch', 'wired', 'When records are sent: batch, while requests go on; blocking, before their answers leave, which then wait for the service; blocking-strict, also before anything is done for a request, and one that cannot be recorded is refused.'),
  'audit-webhook-version': row('Audit', auditVersion, 'audit.k8s.io/v1', 'wired', 'The version of the records.'),
  'audit-webhook-truncate-enabled': row('Audit', value.bool, false, 'wired', 'Whether records to the service that are too large lose what was sent and answered.'),
  'audit-webhook-truncate-max-event-size': row('Audit', value.positive, 102_400, 'wired', 'Bytes from which on a record is too large; one that is even then is lost and counted.'),
  'audit-webhook-truncate-max-batch-size': row('Audit', value.positive, 10_485_760, 'wired', 'No less than a record may have. Records are looked at one by one, so that none is kept from its batch by it.'),

  'kubelet-client-certificate': unset('Kubelets and aggregated servers', value.file, 'wired', 'The client certificate to show to kubelets.'),
  'kubelet-client-key': unset('Kubelets and aggregated servers', value.file, 'wired', 'Its key.'),
  'kubelet-certificate-authority': unset('Kubelets and aggregated servers', value.file, 'wired', 'The authority that signs the certificates of kubelets.'),
  'kubelet-preferred-address-types': row('Kubelets and aggregated servers', value.choices(...addressTypes), addressTypes, 'wired', 'Which of a node\'s addresses to call, in this order.'),
  'kubelet-timeout': row('Kubelets and aggregated servers', value.duration, 5000, 'wired', 'The longest a call to a kubelet may take to begin.'),
  'proxy-client-cert-file': unset('Kubelets and aggregated servers', value.file, 'wired', 'The client certificate to show to aggregated servers and webhooks.'),
  'proxy-client-key-file': unset('Kubelets and aggregated servers', value.file, 'wired', 'Its key.'),
  'enable-aggregator-routing': row('Kubelets and aggregated servers', value.bool, false, 'wired', 'Whether aggregated servers are called at their endpoints instead of the service\'s address.'),
  'aggregator-reject-forwarding-redirect': row('Kubelets and aggregated servers', value.bool, true, 'wired', 'Whether clients are kept from where an aggregated server sends them.'),
  'proxy-loopback-allowed': row('Kubelets and aggregated servers', value.bool, false, 'wired', 'Whether the proxy subresources of pods, services and nodes may lead to this machine itself. For tests only: a user who writes pods can then reach what listens here.'),

  'controllers': row('Controllers', value.list('names separated by commas; * for all that are on by default, -name to leave one out', '*,NAME,-NAME'), ['*'], 'wired', 'The controllers to run.'),
  'enable-garbage-collector': row('Controllers', value.bool, true, 'wired', 'Whether dependents go with their owners. Without, the controller does not run, and deletions put no finalizers for it on objects.'),
  'cluster-signing-duration': row('Controllers', value.duration, 365 * day, 'wired', 'The longest life of a certificate that the built-in authority signs.'),
  'terminated-pod-gc-threshold': row('Controllers', value.count, 12_500, 'wired', 'How many pods that have ended are kept, at most; 0 for all.'),
  'legacy-service-account-token-clean-up-period': row('Controllers', value.duration, 365 * day, 'wired', 'How long a generated token of a service account must be unused before it is invalid, and then until it is deleted (from 1.29).'),
  'leader-elect-lease-duration': row('Controllers', value.duration, 15_000, 'wired', 'How long a leader that is not heard of stays the leader, where several servers share one etcd.'),
  'leader-elect-renew-deadline': row('Controllers', value.duration, 10_000, 'wired', 'How long a leader that cannot renew its lease goes on, at most.'),
  'leader-elect-retry-period': row('Controllers', value.duration, 2000, 'wired', 'How long to wait between two attempts to lead or to renew.'),

  'v': row('Instruments', value.count, 0, 'wired', 'How much is logged: 0 what matters, 2 each request, 4 also the user and the reason of a rejection. PUT /debug/flags/v changes it.'),
  'profiling': row('Instruments', value.bool, true, 'wired', 'Whether /debug/pprof and /debug/flags are served.'),
  'logging-format': row('Instruments', value.choice('text', 'json'), 'text', 'wired', 'The form of the lines of the log: text, or one JSON object a line.'),
  'disabled-metrics': row('Instruments', value.list('names of metrics separated by commas', 'NAME,…'), [], 'wired', '| Metrics that are not shown, whatever other flags select.'),
  'allow-metric-labels': row('Instruments', value.labelValues, new Map(), 'wired', 'The values that a label of a metric may have; all others are counted as one, unexpected. The flag may be given several times.'),
  'show-hidden-metrics-for-version': unset('Instruments', minor, 'wired', 'Show the metrics that this release hid.'),
} satisfies Record<string, Row<unknown>>

export type FlagTable = typeof flagTable
export type FlagName = keyof FlagTable
