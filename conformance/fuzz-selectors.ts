/**
 * Random selectors of devices in classes, claims and templates, on a real server and on this one:
 * both take the same selectors and report the same errors and cost limits. Nothing is stored.
 *
 *   node tools/run.mjs file conformance/fuzz-selectors.ts --peer URL --ours URL
 *       [--seed N] [--count N] [--keep-going]
 */
import { Random } from './random.ts'
import { settingsOf, showDifference, type Step } from './two-servers.ts'

type Make = (random: Random, depth: number) => string

const from =
  (texts: readonly string[]): Make =>
  (random) =>
    random.pick(texts)

/** Values without a static type, or of the types that devices have. */
const any = from([
  'device.attributes["dra.example.com"].model',
  'device.attributes["dra.example.com"]["model"]',
  'device.attributes[device.driver].model',
  'device.attributes["a"].?model.orValue("x")',
])
const quantity = from([
  'device.capacity["dra.example.com"].memory',
  'device.capacity[device.driver]["x"]',
  'quantity("10Gi")',
  'quantity("x")',
])
const version = from(['semver("1.2.3")', 'semver("x")', 'device.attributes["a"].version'])
const whole = from(['1', '-3', '9223372036854775807', '9223372036854775808', '2u', 'size("abc")'])

const text: Make = (random, depth) =>
  depth === 0
    ? random.pick(['"a"', '"a.b"', '""', 'device.driver'])
    : random.pick<Make>([
        (r, d) => `${text(r, d)}.lowerAscii()`,
        (r, d) => `${text(r, d)} + ${text(r, d)}`,
        (r, d) => `${text(r, d)}.replace(${text(r, d)}, ${text(r, d)})`,
        (r, d) => `string(${number(r, d)})`,
        (r, d) => `${text(r, d)}.split(".")[0]`,
        any,
        () => '{"a": device.driver}["a"]',
      ])(random, depth - 1)

const number: Make = (random, depth) =>
  depth === 0
    ? whole(random, 0)
    : random.pick<Make>([
        whole,
        (r, d) => `${number(r, d)} ${r.pick(['+', '-', '*', '/', '%'])} ${number(r, d)}`,
        (r, d) => `${text(r, d)}.size()`,
        (r, d) => `${quantity(r, d)}.asInteger()`,
        (r, d) => `${quantity(r, d)}.compareTo(${quantity(r, d)})`,
        (r, d) => `${version(r, d)}.major()`,
        () => 'device.attributes.size()',
        any,
      ])(random, depth - 1)

const maps = ['device.attributes', 'device.capacity', 'device.attributes["a"]']
const condition: Make = (random, depth) =>
  depth === 0
    ? random.pick(['true', 'device.allowMultipleAllocations', 'device.driver == "a"'])
    : random.pick<Make>([
        (r, d) => `${condition(r, d)} ${r.pick(['&&', '||'])} ${condition(r, d)}`,
        (r, d) => `!(${condition(r, d)})`,
        (r, d) => `${text(r, d)} ${r.pick(['==', '!=', '<', 'in'])} ${text(r, d)}`,
        (r, d) => `${number(r, d)} ${r.pick(['==', '<', '>='])} ${number(r, d)}`,
        (r, d) => `${any(r, d)} == ${r.pick([text, number, condition, any])(r, d)}`,
        (r, d) => `${quantity(r, d)}.isGreaterThan(${quantity(r, d)})`,
        (r, d) => `${version(r, d)}.isLessThan(${version(r, d)})`,
        (r, d) => `${text(r, d)}.matches(${r.pick(['"a+"', '"("', '"[a-z]{1,3}"', text(r, d)])})`,
        (r, d) =>
          `${r.pick(maps)}.${r.pick(['all', 'exists', 'exists_one'])}(k${d}, ${condition(r, d)})`,
        (r, d) => `${r.pick(maps)}.${r.pick(['all', 'exists'])}(k, v, ${condition(r, d)})`,
        (r, d) => `${r.pick(maps)}.map(k${d}, ${text(r, d)}).exists(x, x == ${text(r, d)})`,
        (r, d) => `has(device.attributes["a"].${r.pick(['b', 'model'])}) && ${condition(r, d)}`,
        (r, d) => `${any(r, d)}.includes(${text(r, d)})`,
        (r, d) => `cel.bind(x, ${text(r, d)}, x == "a")`,
        (r, d) => `"${'a'.repeat(r.below(3))}" in device.attributes && ${condition(r, d)}`,
        (r, d) => `[${text(r, d)}, ${text(r, d)}].all(x, ${condition(r, d)})`,
        any,
        () => 'device.nothing == 1',
        () => 'nothing == 1',
        () => 'device.attributes["a"] == 1',
      ])(random, depth - 1)

const expressionOf = (random: Random): string => {
  const made = random.pick([condition, condition, condition, condition, text, number, any])
  const expression = made(random, 1 + random.below(4))
  if (!random.chance(0.05)) return expression
  const cut = random.below(expression.length)
  return random.chance(0.5) ? expression.slice(0, cut) : `${expression} ${'x'.repeat(11_000)}`
}

const apiVersion = 'resource.k8s.io/v1'
const base = '/apis/resource.k8s.io/v1'
const space = `${base}/namespaces/default`

function stepOf(random: Random): Step {
  const selectors = Array.from({ length: 1 + random.below(3) }, () => ({
    cel: { expression: expressionOf(random) },
  }))
  const exactly = { deviceClassName: 'a', selectors }
  const devices = { requests: [{ name: 'r', exactly }] }
  const metadata = { name: 'a' }
  const post = (path: string, kind: string, spec: object): Step => ({
    method: 'POST',
    path: `${path}?dryRun=All`,
    body: { apiVersion, kind, metadata, spec },
  })
  const first = { name: 's', deviceClassName: 'a', selectors }
  return random.pick([
    post(`${base}/deviceclasses`, 'DeviceClass', { selectors }),
    post(`${space}/resourceclaims`, 'ResourceClaim', { devices }),
    post(`${space}/resourceclaims`, 'ResourceClaim', {
      devices: { requests: [{ name: 'r', firstAvailable: [first] }] },
    }),
    post(`${space}/resourceclaimtemplates`, 'ResourceClaimTemplate', { spec: { devices } }),
  ])
}

const settings = await settingsOf(process.argv.slice(2))
const random = new Random(settings.seed)
let different = 0
let taken = 0
for (let asked = 0; asked < settings.count; asked++) {
  const step = stepOf(random)
  const { want, difference } = await settings.servers.askOften(step, '{id}')
  if (want.status < 300) taken++
  if (difference === undefined) continue
  different++
  console.log(`✗ ${JSON.stringify(step.body)}\n  ${showDifference(difference)}`)
  if (!settings.keepGoing) break
}
console.log(`${settings.count - different} of ${settings.count} the same, ${taken} taken`)
process.exit(different === 0 ? 0 : 1)
