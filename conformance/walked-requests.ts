/**
 * Requests beside objects themselves: to subresources, and to kinds that are answered and not
 * stored. Every row is a request with a plain body, whose fields the walk changes one by one, and
 * the objects that must be there. `{id}` is the run's own namespace.
 */
import type { Json } from '#api/object-meta.ts'
import { certificateRequest } from './table-objects.ts'

type Body = { [key: string]: Json }

export interface WalkedRequest {
  readonly method: string
  readonly path: string
  readonly body: Body
  /** Collection and object of what it is about. */
  readonly about?: readonly [path: string, object: Body]
}

const labels = { app: 'web' }
const selector = { matchLabels: labels }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const object = (apiVersion: string, kind: string, name: string, more: Body = {}): Body => ({
  apiVersion,
  kind,
  metadata: { name },
  ...more,
})
const core = '/api/v1/namespaces/{id}'
const apps = '/apis/apps/v1/namespaces/{id}'
const pod = object('v1', 'Pod', 'w', { spec: { containers: [{ name: 'c', image: 'i' }] } })

const scaled = (at: string, plural: string, kind: string, spec: Body): WalkedRequest => ({
  method: 'PUT',
  path: `${at}/${plural}/w/scale`,
  body: object('autoscaling/v1', 'Scale', 'w', { spec: { replicas: 2 } }),
  about: [`${at}/${plural}`, object(at === core ? 'v1' : 'apps/v1', kind, 'w', { spec })],
})
const review = (group: string, plural: string, kind: string, spec: Body): WalkedRequest => ({
  method: 'POST',
  path: `/apis/${group}.k8s.io/v1/${plural}`,
  body: { apiVersion: `${group}.k8s.io/v1`, kind, metadata: {}, spec },
})
const resourceAttributes = { verb: 'get', resource: 'pods', namespace: '{id}' }
const request = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const signing = object('certificates.k8s.io/v1', 'CertificateSigningRequest', '{id}-w', {
  spec: { request: certificateRequest, signerName: 'a.b/c', usages: ['client auth'] },
})

export const walkedRequests: readonly WalkedRequest[] = [
  scaled(apps, 'deployments', 'Deployment', { selector, template }),
  scaled(apps, 'statefulsets', 'StatefulSet', { selector, template, serviceName: 's' }),
  scaled(core, 'replicationcontrollers', 'ReplicationController', { selector: labels, template }),
  {
    method: 'POST',
    path: `${core}/pods/w/binding`,
    body: object('v1', 'Binding', 'w', { target: { kind: 'Node', name: 'n' } }),
    about: [`${core}/pods`, pod],
  },
  {
    method: 'POST',
    path: `${core}/bindings`,
    body: object('v1', 'Binding', 'w', { target: { kind: 'Node', name: 'n' } }),
    about: [`${core}/pods`, pod],
  },
  ...['policy/v1', 'policy/v1beta1'].map(
    (version): WalkedRequest => ({
      method: 'POST',
      path: `${core}/pods/w/eviction`,
      body: object(version, 'Eviction', 'w', { deleteOptions: { gracePeriodSeconds: 1 } }),
      about: [`${core}/pods`, pod],
    }),
  ),
  {
    method: 'POST',
    path: `${core}/serviceaccounts/default/token`,
    body: object('authentication.k8s.io/v1', 'TokenRequest', '', {
      spec: { audiences: ['a'], expirationSeconds: 3600 },
    }),
  },
  {
    method: 'PUT',
    path: `/api/v1/namespaces/{id}-w/finalize`,
    body: object('v1', 'Namespace', '{id}-w', { spec: { finalizers: ['kubernetes'] } }),
    about: ['/api/v1/namespaces', object('v1', 'Namespace', '{id}-w')],
  },
  {
    method: 'PUT',
    path: `${request}/{id}-w/approval`,
    body: { ...signing, status: { conditions: [{ type: 'Approved', status: 'True' }] } },
    about: [request, signing],
  },
  review('authentication', 'tokenreviews', 'TokenReview', { token: 'x', audiences: ['a'] }),
  review('authorization', 'subjectaccessreviews', 'SubjectAccessReview', {
    user: 'u',
    groups: ['g'],
    resourceAttributes,
  }),
  review('authorization', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview', {
    resourceAttributes,
  }),
  review('authorization', 'selfsubjectrulesreviews', 'SelfSubjectRulesReview', {
    namespace: '{id}',
  }),
  {
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/namespaces/{id}/localsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'LocalSubjectAccessReview',
      metadata: { namespace: '{id}' },
      spec: { user: 'u', resourceAttributes },
    },
  },
]

/**
 * What plugins look at when others are created: limits, quotas, classes and defaults. All of them
 * are named `a` or the run's.
 */
export const surroundings: readonly (readonly [path: string, object: Body])[] = [
  [
    `${core}/limitranges`,
    object('v1', 'LimitRange', 'a', {
      spec: {
        limits: [
          {
            type: 'Container',
            min: { cpu: '10m' },
            max: { cpu: '4', memory: '8Gi' },
            default: { cpu: '500m' },
            defaultRequest: { cpu: '100m', memory: '64Mi' },
            maxLimitRequestRatio: { cpu: '20' },
          },
          { type: 'Pod', max: { cpu: '8', memory: '16Gi' } },
          { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '10Gi' } },
        ],
      },
    }),
  ],
  [
    `${core}/resourcequotas`,
    object('v1', 'ResourceQuota', 'a', {
      spec: {
        hard: {
          'requests.cpu': '6',
          'limits.memory': '10Gi',
          'requests.storage': '5Gi',
          'count/configmaps': '50',
          'services.loadbalancers': '1',
          'services.nodeports': '3',
          'requests.example.com/gpu': '2',
          'a.storageclass.storage.k8s.io/requests.storage': '2Gi',
        },
      },
    }),
  ],
  [
    `${core}/resourcequotas`,
    object('v1', 'ResourceQuota', 'b', {
      spec: { hard: { pods: '2' }, scopes: ['NotTerminating', 'NotBestEffort'] },
    }),
  ],
  [
    '/apis/scheduling.k8s.io/v1/priorityclasses',
    object('scheduling.k8s.io/v1', 'PriorityClass', 'a', { value: 5, preemptionPolicy: 'Never' }),
  ],
  [
    '/apis/scheduling.k8s.io/v1/priorityclasses',
    object('scheduling.k8s.io/v1', 'PriorityClass', 'b', { value: 7, globalDefault: true }),
  ],
  [
    '/apis/node.k8s.io/v1/runtimeclasses',
    object('node.k8s.io/v1', 'RuntimeClass', 'a', {
      handler: 'h',
      overhead: { podFixed: { cpu: '250m', memory: '64Mi' } },
      scheduling: {
        nodeSelector: { a: 'c', d: 'e' },
        tolerations: [{ key: 'k', operator: 'Exists' }],
      },
    }),
  ],
  [
    '/apis/storage.k8s.io/v1/storageclasses',
    object('storage.k8s.io/v1', 'StorageClass', 'a', { provisioner: 'p' }),
  ],
  [
    '/apis/storage.k8s.io/v1/storageclasses',
    {
      ...object('storage.k8s.io/v1', 'StorageClass', 'b', {
        provisioner: 'p',
        allowVolumeExpansion: true,
      }),
      metadata: {
        name: 'b',
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      },
    },
  ],
  [
    '/apis/networking.k8s.io/v1/ingressclasses',
    {
      ...object('networking.k8s.io/v1', 'IngressClass', 'a', { spec: { controller: 'a.b/c' } }),
      metadata: {
        name: 'a',
        annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' },
      },
    },
  ],
]
