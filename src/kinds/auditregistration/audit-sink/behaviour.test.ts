import { checkCreate, contextFor, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { auditSinkBehaviour } from './behaviour.ts'

const old = contextFor({ release: 18 })
const clientConfig = { url: 'https://a.example.com/x' }
const policy = { level: 'Metadata', stages: ['ResponseComplete'] }

checkCreate(auditSinkBehaviour, [
  ['a sink', named({ spec: { policy, webhook: { clientConfig } } }), [], old],
  [
    'a level that requires stages, beside another error',
    named({ spec: { policy: { level: 'Much' }, webhook: { clientConfig } } }),
    ['spec.policy.stages: Required value'],
    old,
  ],
  [
    'levels, stages, rates and clients',
    named({
      spec: {
        policy: { level: 'Much', stages: ['Late'] },
        webhook: { throttle: { qps: 0, burst: -1 }, clientConfig: {} },
      },
    }),
    [
      'spec.policy.stages[0]: Invalid value: "Late": allowed stages are Panic,RequestReceived,ResponseComplete,ResponseStarted',
      'spec.policy.level: Unsupported value: "Much": supported values: "Metadata", "None", "Request", "RequestResponse"',
      'spec.webhook.throttle.qps: Invalid value: 0: qps must be a positive number',
      'spec.webhook.throttle.burst: Invalid value: -1: burst must be a positive number',
      'spec.webhook.clientConfig: Required value: exactly one of url or service is required',
    ],
    old,
  ],
])
