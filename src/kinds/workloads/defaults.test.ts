import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { withDefaults } from '#kinds/pod-template/pods.suite.ts'

const labels = { app: 'web' }
const template = { metadata: { labels } }
const core = (type: string) => `io.k8s.api.core.v1.${type}`

const cases: [string, Loose, Loose, number?][] = [
  [
    core('Container'),
    { image: 'nginx' },
    {
      image: 'nginx',
      imagePullPolicy: 'Always',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    },
  ],
  [
    core('Container'),
    {
      image: 'nginx:1',
      imagePullPolicy: '',
      terminationMessagePath: '/x',
      terminationMessagePolicy: 'y',
    },
    {
      image: 'nginx:1',
      imagePullPolicy: 'IfNotPresent',
      terminationMessagePath: '/x',
      terminationMessagePolicy: 'y',
    },
  ],
  [
    core('PodSpec'),
    {
      hostNetwork: true,
      serviceAccount: 's',
      containers: [{ ports: [{ containerPort: 1 }, { containerPort: 0 }] }],
    },
    {
      hostNetwork: true,
      serviceAccount: 's',
      serviceAccountName: 's',
      containers: [{ ports: [{ containerPort: 1, hostPort: 1 }, { containerPort: 0 }] }],
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      schedulerName: 'default-scheduler',
    },
  ],
  [
    core('Pod'),
    {
      metadata: { annotations: { 'pod.beta.kubernetes.io/init-containers': '[]' } },
      spec: { containers: [{ resources: { limits: { cpu: '1' }, requests: { memory: '1' } } }] },
    },
    {
      metadata: {},
      spec: {
        containers: [{ resources: { limits: { cpu: '1' }, requests: { memory: '1', cpu: '1' } } }],
        enableServiceLinks: true,
      },
    },
  ],
  [
    core('ResourceRequirements'),
    { limits: { cpu: '100u', memory: '1Gi' } },
    { limits: { cpu: '1m', memory: '1Gi' } },
  ],
  [core('Volume'), { name: 'v' }, { name: 'v', emptyDir: {} }],
  [core('Volume'), { name: 'v', nfs: {} }, { name: 'v', nfs: {} }],
  [
    core('PodStatus'),
    { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.2' }] },
    { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] },
  ],
  [
    core('ReplicationController'),
    { metadata: {}, spec: { template } },
    { metadata: { labels }, spec: { template, selector: labels, replicas: 1 } },
  ],
  [
    'io.k8s.api.apps.v1.Deployment',
    { metadata: {}, spec: { template } },
    {
      metadata: {},
      spec: {
        template,
        replicas: 1,
        strategy: {
          type: 'RollingUpdate',
          rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' },
        },
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
      },
    },
  ],
  [
    'io.k8s.api.apps.v1beta1.Deployment',
    { metadata: {}, spec: { template, strategy: { type: 'Recreate' } } },
    {
      metadata: { labels },
      spec: {
        template,
        selector: { matchLabels: labels },
        replicas: 1,
        strategy: { type: 'Recreate' },
        revisionHistoryLimit: 2,
        progressDeadlineSeconds: 600,
      },
    },
  ],
  [
    'io.k8s.api.extensions.v1beta1.Deployment',
    { metadata: { labels: { a: 'b' } }, spec: { template } },
    {
      metadata: { labels: { a: 'b' } },
      spec: {
        template,
        selector: { matchLabels: labels },
        replicas: 1,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } },
        revisionHistoryLimit: 2147483647,
        progressDeadlineSeconds: 2147483647,
      },
    },
    15,
  ],
  [
    'io.k8s.api.apps.v1.DaemonSet',
    { metadata: {} },
    {
      metadata: { annotations: { 'deprecated.daemonset.template.generation': '0' } },
      spec: {
        updateStrategy: {
          type: 'RollingUpdate',
          rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
        },
        revisionHistoryLimit: 10,
      },
    },
  ],
  [
    'io.k8s.api.apps.v1.DaemonSet',
    { metadata: {} },
    {
      metadata: { annotations: { 'deprecated.daemonset.template.generation': '0' } },
      spec: {
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
        revisionHistoryLimit: 10,
      },
    },
    20,
  ],
  [
    'io.k8s.api.extensions.v1beta1.DaemonSet',
    { metadata: {}, spec: {} },
    { metadata: {}, spec: { updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 10 } },
    15,
  ],
  [
    'io.k8s.api.apps.v1.StatefulSet',
    { metadata: {}, spec: { volumeClaimTemplates: [{}] } },
    {
      metadata: {},
      spec: {
        volumeClaimTemplates: [{ kind: 'PersistentVolumeClaim', apiVersion: 'v1' }],
        podManagementPolicy: 'OrderedReady',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        replicas: 1,
        revisionHistoryLimit: 10,
      },
    },
  ],
  [
    'io.k8s.api.apps.v1beta1.StatefulSet',
    { metadata: {}, spec: { template } },
    {
      metadata: { labels },
      spec: {
        template,
        selector: { matchLabels: labels },
        podManagementPolicy: 'OrderedReady',
        updateStrategy: { type: 'OnDelete' },
        replicas: 1,
        revisionHistoryLimit: 10,
      },
    },
    15,
  ],
  [
    'io.k8s.api.batch.v1.Job',
    { metadata: {}, spec: { template } },
    {
      metadata: { labels },
      spec: {
        template,
        completions: 1,
        parallelism: 1,
        backoffLimit: 6,
        completionMode: 'NonIndexed',
        suspend: false,
      },
    },
  ],
  [
    'io.k8s.api.batch.v1.CronJob',
    { metadata: {}, spec: {} },
    {
      metadata: {},
      spec: {
        concurrencyPolicy: 'Allow',
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      },
    },
  ],
  [
    'io.k8s.api.batch.v2alpha1.CronJob',
    { metadata: {}, spec: {} },
    { metadata: {}, spec: { concurrencyPolicy: 'Allow', suspend: false } },
    15,
  ],
]
for (const [type, given, expected, release] of cases) {
  test(`${type.replace('io.k8s.api.', '')} in 1.${release ?? 22}`, () =>
    assert.deepEqual(withDefaults(type, structuredClone(given), release), expected))
}
