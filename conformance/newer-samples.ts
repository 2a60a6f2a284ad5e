/**
 * One small valid object of each kind that came after 1.22, in the same rows as the others.
 * `{id}` is the run's own part of a name.
 */
import type { Json } from '#api/object-meta.ts'

type Body = { [key: string]: Json }

export type SampleRow = readonly [
  at: string,
  plural: string,
  kind: string,
  body: Body,
  /** A name that the kind requires, in place of the usual one. */
  name?: string,
]

const selector = { matchLabels: { app: 'web' } }
const devices = { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] }
/** Self-signed, for the name `a`, without a key that anybody has. */
const trustAnchor = `-----BEGIN CERTIFICATE-----
MIIBXDCCAQKgAwIBAgIBATAKBggqhkjOPQQDAjAMMQowCAYDVQQDDAFhMCAXDTI2
MTExOTE3MDMwOVoYDzIxMjYxMDI2MTcwMzA5WjAMMQowCAYDVQQDDAFhMFkwEwYH
KoZIzj0CAQYIKoZIzj0DAQcDQgAEaJVSaoBw1oSxWTNp/3Mt+UJVZ+3Nw9San3MY
40Uf80pgOpSbJc/84oXZ+h2C1IBj+BnM78tXm09i5AChYtjyPaNTMFEwHQYDVR0O
BBYEFGfWt/wBcNcQOj22Huey7PMuoM5WMB8GA1UdIwQYMBaAFGfWt/wBcNcQOj22
Huey7PMuoM5WMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgaPmF
j08TxEmJWEJcZHG4VId6RAAyWpIaEEFEZTCapfwCIQDPR1sPh2xqB3PWL/U2tJhY
ojM6TK8zjUTTAWhO0VawRg==
-----END CERTIFICATE-----
`
/** An empty request of an elliptic key, signed with that key. */
const stubRequest =
  'MIG6MGICAQAwADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHOmitluwAP3cCTSCmIpt8LZOBLbRxQ8x0+q1SrBLHs+' +
  'WEFiSvOblhaiM5UDlPNvQTxyrPgf5iQ3Sfs1vfQBG8igADAKBggqhkjOPQQDAgNIADBFAiBDjRsOaInduQXOBkjGeGu/' +
  'AiGcplCvtHLZaSC7rZsVcQIhANGIHD2zFLf1cE7ybBIvR3dZOiTJ5AxiMbmf6LqP6Ia/'

const policyRules = [
  { apiGroups: ['a.b'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] },
]

export const newerNamespaced: readonly SampleRow[] = [
  ['apis/resource.k8s.io/v1', 'resourceclaims', 'ResourceClaim', { spec: { devices } }],
  [
    'apis/resource.k8s.io/v1',
    'resourceclaimtemplates',
    'ResourceClaimTemplate',
    { spec: { spec: { devices } } },
  ],
  [
    'apis/certificates.k8s.io/v1',
    'podcertificaterequests',
    'PodCertificateRequest',
    {
      spec: {
        signerName: 'a.b/c',
        podName: 'p',
        podUID: 'u',
        serviceAccountName: 's',
        serviceAccountUID: 'v',
        nodeName: 'n',
        nodeUID: 'w',
        maxExpirationSeconds: 86400,
        stubPKCS10Request: stubRequest,
      },
    },
  ],
]

export const newerClusterWide: readonly SampleRow[] = [
  [
    'apis/resource.k8s.io/v1',
    'deviceclasses',
    'DeviceClass',
    { spec: { selectors: [{ cel: { expression: "device.driver == 'a.b'" } }] } },
  ],
  [
    'apis/resource.k8s.io/v1',
    'resourceslices',
    'ResourceSlice',
    {
      spec: {
        driver: 'a.b',
        nodeName: 'n',
        pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
        devices: [
          {
            name: 'd',
            attributes: { a: { string: 'x' } },
            capacity: { m: { value: '1Gi' } },
          },
        ],
      },
    },
  ],
  [
    'apis/resource.k8s.io/v1',
    'devicetaintrules',
    'DeviceTaintRule',
    { spec: { deviceSelector: { driver: 'a.b' }, taint: { key: 'a', effect: 'NoSchedule' } } },
  ],
  [
    'apis/networking.k8s.io/v1',
    'ipaddresses',
    'IPAddress',
    { spec: { parentRef: { resource: 'services', namespace: 'a', name: 'b' } } },
    '192.0.2.77',
  ],
  [
    'apis/networking.k8s.io/v1',
    'servicecidrs',
    'ServiceCIDR',
    { spec: { cidrs: ['192.0.2.0/24'] } },
  ],
  [
    'apis/storage.k8s.io/v1',
    'volumeattributesclasses',
    'VolumeAttributesClass',
    { driverName: 'a.b', parameters: { a: 'b' } },
  ],
  [
    'apis/certificates.k8s.io/v1',
    'clustertrustbundles',
    'ClusterTrustBundle',
    { spec: { trustBundle: trustAnchor } },
  ],
  [
    'apis/storagemigration.k8s.io/v1',
    'storageversionmigrations',
    'StorageVersionMigration',
    { spec: { resource: { group: 'a.b', resource: 'cs' } } },
  ],
  [
    'apis/admissionregistration.k8s.io/v1',
    'validatingadmissionpolicies',
    'ValidatingAdmissionPolicy',
    {
      spec: {
        matchConstraints: { resourceRules: policyRules },
        validations: [{ expression: 'has(object.a)', message: 'm' }],
      },
    },
  ],
  [
    'apis/admissionregistration.k8s.io/v1',
    'validatingadmissionpolicybindings',
    'ValidatingAdmissionPolicyBinding',
    { spec: { policyName: 'none', validationActions: ['Deny'] } },
  ],
  [
    'apis/admissionregistration.k8s.io/v1',
    'mutatingadmissionpolicies',
    'MutatingAdmissionPolicy',
    {
      spec: {
        matchConstraints: { resourceRules: policyRules },
        reinvocationPolicy: 'Never',
        mutations: [
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: { expression: 'Object{}' },
          },
        ],
      },
    },
  ],
  [
    'apis/admissionregistration.k8s.io/v1',
    'mutatingadmissionpolicybindings',
    'MutatingAdmissionPolicyBinding',
    { spec: { policyName: 'none', matchResources: { namespaceSelector: selector } } },
  ],
  [
    'apis/flowcontrol.apiserver.k8s.io/v1',
    'prioritylevelconfigurations',
    'PriorityLevelConfiguration',
    { spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } },
  ],
  [
    'apis/flowcontrol.apiserver.k8s.io/v1',
    'flowschemas',
    'FlowSchema',
    { spec: { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 5000 } },
  ],
]
