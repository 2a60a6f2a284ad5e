/**
 * Random definitions and objects, sent to two servers that are to answer alike: same verdicts, defaults, pruning, owners
 * and words. Bounded and repeatable:
 *
 *   node conformance/fuzz-schemas.ts --ours https://127.0.0.1:6443 --theirs https://127.0.0.1:16443 --seed 1 --cases 50
 */
import { Agent, request } from 'node:https'
import { parseArgs } from 'node:util'
import { Random } from './random.ts'
import { objectSchema, randomValue } from './random-schema.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are JSON of any shape
type Any = any

const { values: flags } = parseArgs({
  options: {
    ours: { type: 'string', default: '' },
    theirs: { type: 'string', default: '' },
    token: { type: 'string', default: 'admin-token' },
    seed: { type: 'string', default: '1' },
    cases: { type: 'string', default: '30' },
    objects: { type: 'string', default: '10' },
  },
})

/** The original waits this long before the first object of a new kind. */
const settleMs = 2500
const agent = new Agent({ keepAlive: true, maxSockets: 8, rejectUnauthorized: false })

function send(
  server: string,
  method: string,
  path: string,
  body?: Any,
  type = 'application/json',
): Promise<{ status: number; body: Any }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${flags.token}`,
      accept: 'application/json',
      'content-type': type,
      'user-agent': 'fuzz/1',
    }
    const outgoing = request(new URL(path, server), { method, agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({
          status: response.statusCode ?? 0,
          body: text === '' ? undefined : JSON.parse(text),
        })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** What two runs cannot share is hidden; what the original leaves to chance is put in order. */
function plain(value: Any, key = ''): Any {
  if (Array.isArray(value)) {
    const list = value.map((one) => plain(one))
    return key === 'causes'
      ? list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      : list
  }
  if (value !== null && typeof value === 'object') {
    const hidden = ['uid', 'creationTimestamp', 'time', 'resourceVersion', 'generation']
    const keys = Object.keys(value)
      .filter((one) => !hidden.includes(one))
      .sort()
    return Object.fromEntries(keys.map((one) => [one, plain(value[one], one)]))
  }
  if (key === 'message' && typeof value === 'string') {
    const list = /^(.*? is invalid: )\[(.*)\]$/s.exec(value)
    if (list !== null) return `${list[1]}[${list[2].split(', ').sort().join(', ')}]`
    return value.replace(/( cannot be handled as a [A-Za-z]+: ).*$/s, '$1…')
  }
  return value
}

function definition(group: string, spec: Any): Any {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gears.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  }
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const servers = [flags.ours, flags.theirs]
const random = new Random(Number(flags.seed))
let asked = 0
let same = 0

function compare(what: string, sent: Any, [ours, theirs]: { status: number; body: Any }[]): void {
  asked++
  const [a, b] = [ours, theirs].map(({ status, body }) => JSON.stringify([status, plain(body)]))
  if (a === b) {
    same++
    return
  }
  process.stdout.write(
    `✗ ${what}\n  sent   ${JSON.stringify(sent)}\n  theirs ${b}\n  ours   ${a}\n`,
  )
}

const cases = Array.from({ length: Number(flags.cases) }, (_, i) => ({
  group: `f${flags.seed}-${i}.example.com`,
  spec: objectSchema(random, 3),
  accepted: false,
}))
for (const one of cases) {
  const body = definition(one.group, one.spec)
  const answers = await Promise.all(
    servers.map((server) => send(server, 'POST', definitions, body)),
  )
  compare(`definition ${one.group}`, one.spec, answers)
  one.accepted = answers.every(({ status }) => status === 201)
}
await new Promise((resolve) => setTimeout(resolve, settleMs))
for (const { group, spec, accepted } of cases) {
  if (!accepted) continue
  for (let i = 0; i < Number(flags.objects); i++) {
    const object = {
      apiVersion: `${group}/v1`,
      kind: 'Gear',
      metadata: { name: `g${i}` },
      spec: randomValue(random, spec, i < 3 ? 0 : 0.12),
    }
    const path = `/apis/${group}/v1/namespaces/default/gears`
    const apply = random.chance(0.25)
    const answers = await Promise.all(
      servers.map((server) =>
        apply
          ? send(
              server,
              'PATCH',
              `${path}/g${i}?fieldManager=f&dryRun=All`,
              object,
              'application/apply-patch+yaml',
            )
          : send(server, 'POST', `${path}?dryRun=All`, object),
      ),
    )
    compare(`${apply ? 'apply' : 'create'} ${group} ${JSON.stringify(spec)}`, object, answers)
  }
}
await Promise.all(
  cases.flatMap(({ group }) =>
    servers.map((server) => send(server, 'DELETE', `${definitions}/gears.${group}`)),
  ),
)
process.stdout.write(`${same} of ${asked} answers the same\n`)
process.exitCode = same === asked ? 0 : 1
