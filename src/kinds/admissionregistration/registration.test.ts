import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { checkCreate, checkUpdate, contextFor, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { apiServiceBehaviour } from '#kinds/apiregistration/api-service/behaviour.ts'
import { parseGoUrl } from './go-url.ts'
import { webhookConfigurationBehaviour } from './webhook-configuration.ts'

const beta = contextFor({ requestApiVersion: 'admissionregistration.k8s.io/v1beta1' })
const hook = (fields: Loose = {}) => ({
  name: 'a.b.c',
  clientConfig: { url: 'https://x/' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...fields,
})
const hooks = (...webhooks: Loose[]) => named({ webhooks })
const rule = (fields: Loose) =>
  hooks(
    hook({
      rules: [
        { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], ...fields },
      ],
    }),
  )

checkCreate(webhookConfigurationBehaviour, [
  ['a webhook', hooks(hook()), []],
  [
    'a domain for a name, and a way to reach it',
    hooks(hook({ name: 'a.b', clientConfig: {} })),
    [
      'webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
      'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
    ],
  ],
  ['each name once', hooks(hook(), hook()), ['webhooks[1].name: Duplicate value: "a.b.c"']],
  ['the beta did not mind', hooks(hook({ sideEffects: 'Some' }), hook()), [], beta],
  [
    'effects are known to be harmless',
    hooks(hook({ sideEffects: null })),
    ['webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun'],
  ],
  [
    'a version we speak',
    hooks(hook({ admissionReviewVersions: ['v2', 'v2'] })),
    [
      'webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
      'webhooks[0].admissionReviewVersions: Invalid value: []string{"v2", "v2"}: must include at least one of v1, v1beta1',
    ],
  ],
  [
    'the release before knew the first version of reviews alone',
    hooks(hook()),
    [
      'webhooks[0].admissionReviewVersions: Invalid value: []string{"v1"}: must include at least one of v1beta1',
    ],
    contextFor({ release: 16 }),
  ],
  [
    '… and 1.15 reports in other words',
    hooks(hook()),
    [
      'webhooks[0].admissionReviewVersions: Invalid value: []string{"v1"}: none of the versions accepted by this server. accepted version(s) are v1beta1',
    ],
    contextFor({ release: 15 }),
  ],
  ['… and a release later both', hooks(hook()), [], contextFor({ release: 17 })],
  [
    'a star is alone',
    rule({ operations: ['*', 'CREATE'], apiGroups: ['*', 'a'] }),
    [
      'webhooks[0].rules[0].operations: Invalid value: []admissionregistration.OperationType{"*", "CREATE"}: if \'*\' is present, must not specify other operations',
      'webhooks[0].rules[0].apiGroups: Invalid value: []string{"*", "a"}: if \'*\' is present, must not specify other API groups',
    ],
  ],
  [
    'each overlap is reported once',
    rule({ resources: ['pods/*', 'pods/x', '*/x', 'a/x'] }),
    [
      'webhooks[0].rules[0].resources[1]: Invalid value: "pods/x": if \'pods/*\' is present, must not specify pods/x',
      'webhooks[0].rules[0].resources[3]: Invalid value: "a/x": if \'*/x\' is present, must not specify a/x',
    ],
  ],
  [
    'a service; the paths of its fields are mixed up, as in kube-apiserver',
    hooks(hook({ clientConfig: { service: { name: 'n', port: 0, path: 'a//b' } } })),
    [
      'webhooks[0].clientConfig.service.name: Required value',
      'webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
      'webhooks[0].clientConfig.service.path: Invalid value: "a//b": must start with a \'/\'',
      'webhooks[0].clientConfig.service.path: Invalid value: "a//b": segment[0] may not be empty',
      'webhooks[0].clientConfig.service.path: Invalid value: "a//b": segment[1] may not be empty',
    ],
  ],
])
checkUpdate(webhookConfigurationBehaviour, [
  ['what was let in may stay', hooks(hook(), hook()), hooks(hook(), hook()), []],
])

const urls: [string, string][] = [
  ['://x', 'parse "://x": missing protocol scheme'],
  ['a b:c', 'parse "a b:c": first path segment in URL cannot contain colon'],
  ['https://x:y/', 'parse "https://x:y/": invalid port ":y" after host'],
  ['https://[::1/', 'parse "https://[::1/": missing \']\' in host'],
  ['https://x/%zz', 'parse "https://x/%zz": invalid URL escape "%zz"'],
  ['https://x\u0001', 'parse "https://x\\x01": net/url: invalid control character in URL'],
]
for (const [text, problem] of urls) {
  test(`${JSON.stringify(text)} is no URL`, () => {
    assert.deepEqual(parseGoUrl(text), { ok: false, problem })
  })
}
test('a URL in its parts', () => {
  assert.deepEqual(parseGoUrl('HTTPS://u:p@x:1/y?q#f'), {
    ok: true,
    url: { scheme: 'https', user: 'u:p', host: 'x:1', query: 'q', fragment: 'f' },
  })
})

const service = (spec: Loose, name = 'v1.a.io') =>
  named(
    {
      spec: { group: 'a.io', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, ...spec },
    },
    { name },
  )
checkCreate(apiServiceBehaviour, [
  ['a local one', service({ service: null }), []],
  [
    'is called by what it serves',
    service({}, 'x'),
    ['metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.a.io"'],
  ],
  [
    'and so is generateName, with the error of a name',
    named(
      { spec: service({}).spec },
      {
        name: 'v1.a.io',
        generateName: 'v',
        labels: { '': 'x' },
      },
    ),
    [
      'metadata.generateName: Invalid value: "v": must be `spec.version+"."+spec.group`: "v1.a.io"',
      'metadata.labels: Invalid value: "": name part must be non-empty',
      `metadata.labels: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
    ],
  ],
  [
    'and has no authority',
    service({ caBundle: 'AAAA', insecureSkipTLSVerify: true }),
    [
      'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle',
      'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
    ],
  ],
])
test('a local one is available at once', () => {
  const object = service({})
  apiServiceBehaviour.prepareForCreate?.(object, contextFor())
  assert.equal(object.status.conditions[0].reason, 'Local')
})
