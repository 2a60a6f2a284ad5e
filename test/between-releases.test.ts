/**
 * What the releases between the recorded ones answer: rules that changed from 1.16 to 1.20, each asked of the releases
 * before and after its change. The last answer of a row counts, at one place of it.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Answer, type RunningServer, startServer } from './running-server.ts'

const started = new Map<number, Promise<RunningServer>>()
function serverOf(release: number): Promise<RunningServer> {
  const made =
    started.get(release) ??
    startServer([
      `--emulated-version=1.${release}`,
      '--controllers=-*',
      '--disable-admission-plugins=ServiceAccount',
    ])
  started.set(release, made)
  return made
}
after(async () => {
  for (const server of started.values()) await (await server).stop()
})

type Step = [method: string, path: string, body?: object, type?: string]

interface Row {
  readonly says: string
  readonly steps: readonly Step[]
  /** Where to look in the last answer, `status` being its number. */
  readonly at: string
  readonly expected: Readonly<Record<number, unknown>>
}

const inDefault = '/api/v1/namespaces/default'
const container = { name: 'c', image: 'i' }

const rows: Row[] = [
  {
    says: 'who creates an object owns the status that the create resets',
    steps: [
      [
        'POST',
        `${inDefault}/pods`,
        {
          metadata: { name: 'p' },
          spec: { containers: [container] },
          status: { phase: 'Unknown' },
        },
      ],
    ],
    at: 'metadata.managedFields.0.fieldsV1.f:status',
    expected: { 18: { 'f:phase': {} }, 20: { 'f:phase': {} }, 21: undefined },
  },
]

const valueAt = (answer: Answer, place: string): unknown =>
  place === 'status'
    ? answer.status
    : place
        .split('.')
        .reduce<unknown>(
          (value, step) => (value as Record<string, unknown> | undefined)?.[step],
          answer.body,
        )

for (const { says, steps, at, expected } of rows)
  for (const [release, value] of Object.entries(expected))
    test(`1.${release}: ${says}`, async () => {
      const server = await serverOf(Number(release))
      let answer: Answer | undefined
      for (const [method, path, body, type] of steps)
        answer = await server.ask(method, path, body, type ? { 'content-type': type } : undefined)
      assert.deepEqual(valueAt(answer as Answer, at), value, answer?.text)
    })
