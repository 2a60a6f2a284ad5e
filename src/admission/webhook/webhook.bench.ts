/**
 * The time that a validating webhook which allows a write adds to it, on loopback: `node
 * src/admission/webhook/webhook.bench.ts`. Our limit is one millisecond at the median. Webhook and
 * caller share this process, so both sides are measured.
 */
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { AdmissionChain } from '#admission/chain.ts'
import { pod, podKind, requestOf, types } from '#admission/requests.suite.ts'
import { authorizer, meterOf } from '#admission/policy/policies.suite.ts'
import { nobody } from './credentials.ts'
import { HookClient } from './hook-client.ts'
import { validatingWebhooks } from './validating.ts'
import { ownPlace, WebhookServer } from './webhook-server.suite.ts'

const warmUps = 500
const rounds = 2000
const limitMs = 1

const server = await WebhookServer.start()
const reader = new MemoryReader()
reader.put('admissionregistration.k8s.io', 'validatingwebhookconfigurations', {
  metadata: { name: 'v' },
  webhooks: [
    {
      name: 'v.x.io',
      clientConfig: server.at('/v'),
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['pods'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
})
const plugin = validatingWebhooks({
  client: new HookClient(nobody, ownPlace),
  authorizer: authorizer(false),
  newUid: () => 'uid',
  release: 22,
  types,
  skipsReviews: false,
  meter: meterOf(22).meter,
  observe: () => {},
  report: console.error,
})
const chain = new AdmissionChain([plugin], reader)
await chain.start()
const took: number[] = []
for (let i = 0; i < warmUps + rounds; i++) {
  const began = performance.now()
  await chain.validate(requestOf('CREATE', podKind, pod()))
  if (i >= warmUps) took.push(performance.now() - began)
  server.received.length = 0
}
server.stop()
took.sort((a, b) => a - b)
const at = (part: number) => (took[Math.floor(took.length * part)] as number).toFixed(3)
console.log(
  `no-op validating webhook: median ${at(0.5)} ms, p99 ${at(0.99)} ms over ${rounds} calls`,
)
if ((took[rounds / 2] as number) >= limitMs) process.exitCode = 1
