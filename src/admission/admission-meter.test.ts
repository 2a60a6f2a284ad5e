/** The durations that admission measures: each plugin, each step, each call of a webhook. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AdmissionFamilies, admissionMeter } from './admission-meter.ts'
import type { HookCall } from './webhook/dispatch.ts'

function metered() {
  const seen: string[] = []
  const family = (name: string) => ({
    labels: (...labels: string[]) => ({
      observe: (value: number) => seen.push(`${name} ${labels.join(' ')} ${value}`),
      add: (value: number) => seen.push(`${name} ${labels.join(' ')} ${value}`),
    }),
  })
  const families = {
    admissionSteps: family('step'),
    admissionPlugins: family('plugin'),
    admissionWebhooks: family('webhook'),
    webhookRejections: family('rejection'),
  }
  return { meter: admissionMeter(families as unknown as AdmissionFamilies, () => 0), seen }
}

const call = (more: Partial<HookCall> = {}): HookCall => ({
  type: 'validating',
  name: 'a.x.io',
  operation: 'CREATE',
  durationMs: 250,
  rejected: false,
  errorType: '',
  code: 0,
  ...more,
})
const refused = { rejected: true } as const
const calls: [what: string, call: HookCall, expected: string[]][] = [
  ['one that admits', call(), ['webhook a.x.io validating CREATE false 0.25']],
  [
    'one that refuses',
    call({ ...refused, errorType: 'no_error', code: 403 }),
    [
      'webhook a.x.io validating CREATE true 0.25',
      'rejection a.x.io validating CREATE no_error 403 1',
    ],
  ],
  [
    'one that rejects with an unknown status code',
    call({ ...refused, errorType: 'no_error', code: 999 }),
    [
      'webhook a.x.io validating CREATE true 0.25',
      'rejection a.x.io validating CREATE no_error 600 1',
    ],
  ],
  [
    'one that cannot be called',
    call({ ...refused, type: 'admit', errorType: 'calling_webhook_error' }),
    [
      'webhook a.x.io admit CREATE true 0.25',
      'rejection a.x.io admit CREATE calling_webhook_error 0 1',
    ],
  ],
]
for (const [what, one, expected] of calls) {
  test(`of webhooks: ${what}`, () => {
    const { meter, seen } = metered()
    meter.webhook(one)
    assert.deepEqual(seen, expected)
  })
}

test('metrics distinguish plugins and steps by operation and result', () => {
  const { meter, seen } = metered()
  for (const rejected of [false, true, false]) {
    meter.plugin('P', 'admit', 'UPDATE', rejected, 1000)
    meter.step('validate', 'DELETE', rejected, 2000)
  }
  meter.plugin('Q', 'admit', 'UPDATE', false, 1000)
  meter.unconcerned(['Q', 'R'], 'validate', 'CREATE')
  assert.deepEqual(seen, [
    'plugin P admit UPDATE false 1',
    'step validate DELETE false 2',
    'plugin P admit UPDATE true 1',
    'step validate DELETE true 2',
    'plugin P admit UPDATE false 1',
    'step validate DELETE false 2',
    'plugin Q admit UPDATE false 1',
    'plugin Q validate CREATE false 0',
    'plugin R validate CREATE false 0',
  ])
})
