/**
 * Random printer columns of custom kinds, on a real server and on this one: every cell of every
 * object must be the same, and where a path cannot be read the same columns must be missing. A cell
 * that the other server shows now so, now so, because its maps have no order, is passed over.
 *
 *   node tools/run.mjs file conformance/fuzz-columns.ts --peer URL --ours URL [--seed N]
 *       [--count N]
 *
 * Each definition has a seed of its own, printed with a difference.
 */
import { setTimeout } from 'node:timers/promises'
import { parseJsonPath } from '#kinds/custom/json-path.ts'
import { definitionsPath, gearDefinition, gearVersion } from './gear-definition.ts'
import { Random } from './random.ts'
import { columnList, columnValue, randomColumns } from './random-columns.ts'
import { type Difference, settingsOf, showDifference, type TwoServers } from './two-servers.ts'

// biome-ignore lint/suspicious/noExplicitAny: tables are JSON of any shape
type Any = any

const columnsMax = 40
const objectsPerDefinition = 6
/** Versions whose first column is one that this server cannot read. */
const unreadableMax = 6
/** kube-apiserver needs about this long before the first object of a new kind. */
const settleMs = 3000
/** A cell of two values in an order of chance stays the same seldom enough after so many. */
const timesAskedAgain = 8

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

interface Case {
  readonly seed: number
  readonly group: string
  readonly versions: readonly string[]
  readonly objects: readonly Any[]
  readonly columns: readonly (readonly Any[])[]
}

async function define(servers: TwoServers, seed: number): Promise<Case> {
  const random = new Random(seed)
  const group = `c${seed}.example.com`
  const all = randomColumns(random, columnsMax)
  const isReadable = ({ jsonPath }: Any) => parseJsonPath(jsonPath) !== undefined
  // A path without a leading dot is rejected with its whole definition, and tested elsewhere.
  const taken = all.filter(({ jsonPath }) => jsonPath.startsWith('.'))
  const readable = taken.filter(isReadable)
  const unreadable = taken.filter((one) => !isReadable(one)).slice(0, unreadableMax)
  const columns = [readable, ...unreadable.map((one) => [one, ...readable.slice(0, 1)])]
  const versions = columns.map((additionalPrinterColumns, i) =>
    gearVersion(`v${i + 1}`, anything, i === 0, { additionalPrinterColumns }),
  )
  await servers.ask(
    { method: 'POST', path: definitionsPath, body: gearDefinition(group, versions) },
    group,
  )
  const objects = Array.from({ length: objectsPerDefinition }, (_, i) => ({
    apiVersion: `${group}/v1`,
    kind: 'Gear',
    metadata: { name: `g${i}`, labels: { z: 'label' } },
    spec: {
      a: columnValue(random, 2),
      b: columnValue(random, 1),
      list: columnList(random),
      map: { a: columnValue(random, 1), 'x.y': columnValue(random, 0) },
    },
    status: columnValue(random, 3),
  }))
  for (const { spec } of objects) {
    if (random.chance(0.3)) spec.list = [columnValue(random, 2)]
  }
  return { seed, group, versions: versions.map(({ name }) => name), objects, columns }
}

/**
 * Names and cells, without those that the other server is not sure of; ages of seconds grow
 * meanwhile.
 */
const cellsOf =
  (unsure: ReadonlySet<string>) =>
  (table: Any): Any => ({
    columns: table.columnDefinitions?.map(({ description: _, ...one }: Any) => one),
    rows: table.rows?.map(({ cells }: Any, row: number) =>
      cells.map((cell: Any, i: number) =>
        unsure.has(`${row}/${i}`) || /^\d{1,3}s$/.test(cell) ? '<unsure>' : withoutOwn(cell),
      ),
    ),
    code: table.code,
    message: table.message,
  })

/** What no two servers share, in the text of an object. */
const withoutOwn = (cell: Any): Any =>
  typeof cell === 'string'
    ? cell
        .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
        .replace(/"resourceVersion":"\d+"/g, '"resourceVersion":"<rv>"')
        .replace(/20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>')
    : cell

async function compare(servers: TwoServers, one: Case, version: string, random: Random) {
  const accept = `application/json;as=Table;v=${random.pick(['v1', 'v1beta1'])};g=meta.k8s.io`
  const path = `/apis/${one.group}/${version}/namespaces/default/gears`
  const step = { method: 'GET', path, headers: { accept } }
  const unsure = new Set<string>()
  const answers: Any[] = []
  for (let i = 0; i < timesAskedAgain; i++) answers.push(await servers.askPeer(step))
  const [first, ...others] = answers
  for (const other of others) {
    first.rows?.forEach(({ cells }: Any, row: number) => {
      cells.forEach((cell: Any, i: number) => {
        const again = other.rows[row]?.cells[i]
        if (JSON.stringify(cell) !== JSON.stringify(again)) unsure.add(`${row}/${i}`)
      })
    })
  }
  return servers.askPart(step, cellsOf(unsure))
}

/** Which column of which object a difference is about. */
function about(one: Case, version: string, { path }: Difference): string {
  const [, row, cell] = /rows\W+(\d+)\W+(\d+)/.exec(path) ?? []
  const columns = one.columns[one.versions.indexOf(version)] as readonly Any[]
  if (cell === undefined) return JSON.stringify(columns)
  return `${JSON.stringify(columns[Number(cell) - 1])}\n    of ${JSON.stringify(one.objects[Number(row)])}`
}

async function main(): Promise<number> {
  const { seed, count, servers } = await settingsOf(process.argv.slice(2))
  const cases: Case[] = []
  for (let i = 0; i < count; i++) cases.push(await define(servers, seed + i))
  await setTimeout(settleMs)
  let different = 0
  let asked = 0
  for (const one of cases) {
    const random = new Random(one.seed)
    const path = `/apis/${one.group}/v1/namespaces/default/gears`
    for (const body of one.objects) await servers.ask({ method: 'POST', path, body }, one.group)
    for (const version of one.versions) {
      asked++
      const difference = await compare(servers, one, version, random)
      if (difference === undefined) continue
      different++
      console.log(`seed ${one.seed} ${version}: ${about(one, version, difference)}`)
      console.log(`  ${showDifference(difference)}`)
    }
    await servers.ask(
      { method: 'DELETE', path: `${definitionsPath}/gears.${one.group}` },
      one.group,
    )
  }
  console.log(`${asked} tables of ${count} kinds from seed ${seed}, ${different} differ`)
  return different === 0 ? 0 : 1
}

process.exitCode = await main()
