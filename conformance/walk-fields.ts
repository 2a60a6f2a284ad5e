/**
 * Every field of every built-in kind with a list of odd values, one after the other, sent to a real
 * server and to this one: their answers must be the same. Nothing is left to chance but the steps
 * of `--way turns`.
 *
 *   node tools/run.mjs file conformance/walk-fields.ts --peer URL --ours URL
 *     [--way create,update,status,turns] [--only REGEX]
 *
 * `create` sends dry-run creates, `update` and `status` dry-run replacements of an object that is
 * there; `turns` writes `--count` random changes from `--seed` one over the other, `mix` sends as
 * many dry-run creates with several changes each. `--only` looks at `pods/plain`, `--field` at
 * `spec.containers.ports`, `--every N` takes each Nth change only. `request` is about subresources
 * and reviews. With `--surrounded` there are limits, quotas, classes and defaults that plugins look
 * at.
 */
import { changed, type FieldChange, fieldChanges } from './field-changes.ts'
import { Random } from './random.ts'
import { settingsOf, showDifference, type Step, type TwoServers } from './two-servers.ts'
import { declaredValues, typeOf } from './types-of-facts.ts'
import { walkedObjects } from './walked-objects.ts'
import { type Body, type Place, placeOf, shownChange } from './walked-place.ts'
import { surroundings, type WalkedRequest, walkedRequests } from './walked-requests.ts'

const declared = declaredValues()
/** Requests under way at a time: enough to keep two servers busy on two cores. */
const atOnce = 4

interface Walk {
  readonly servers: TwoServers
  readonly id: string
  readonly keepGoing: boolean
  asked: number
  accepted: number
  different: number
}

async function askAll(
  walk: Walk,
  all: Iterable<[FieldChange, Step]>,
  title: string,
  length = atOnce,
) {
  const iterator = all[Symbol.iterator]()
  const one = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) {
      const [change, step] = next.value
      await askOne(walk, step, `${title} ${shownChange(change)}`)
      if (walk.different > 0 && !walk.keepGoing) return
    }
  }
  await Promise.all(Array.from({ length }, one))
}

async function askOne(walk: Walk, step: Step, title: string): Promise<number> {
  const { want, difference } = await walk.servers.askInOrder(step, walk.id)
  walk.asked++
  if (want.status < 300) walk.accepted++
  if (difference !== undefined) {
    walk.different++
    console.log(`${title}: ${step.method}\n  ${showDifference(difference)}`)
  }
  return want.status
}

function* creates(place: Place, every: number): Generator<[FieldChange, Step]> {
  let i = 0
  for (const change of fieldChanges(place.type, declared, place.walked)) {
    if (change.path[0] === 'status' || i++ % every !== 0) continue
    const body = changed(place.object, place.type, change, declared)
    yield [change, { method: 'POST', path: `${place.path}?dryRun=All`, body }]
  }
}

/**
 * A dry run over an autoscaler shows metrics of the object before: those are written, one after the
 * other.
 */
const isWritten = ({ object }: Place): boolean => object.kind === 'HorizontalPodAutoscaler'

/** Replacements say which version they replace: some kinds want to know. */
const replacement = (place: Place, body: Body, subresource = ''): Step => ({
  method: 'PUT',
  path: `${place.itemPath}${subresource}${isWritten(place) ? '' : '?dryRun=All'}`,
  body: isWritten(place)
    ? body
    : { ...body, metadata: { resourceVersion: '$rv', ...(body.metadata as Body) } },
})

function* updates(place: Place, every: number, ofStatus: boolean): Generator<[FieldChange, Step]> {
  let i = 0
  for (const change of fieldChanges(place.type, declared, place.walked)) {
    if ((change.path[0] === 'status') !== ofStatus || i++ % every !== 0) continue
    const body = changed(place.object, place.type, change, declared)
    if ((body.metadata as Body | undefined) === undefined || body.metadata === null) continue
    yield [change, replacement(place, body, ofStatus ? '/status' : '')]
  }
}

const make = (place: Place): Step => ({ method: 'POST', path: place.path, body: place.object })
/**
 * Finalizers that plugins added: only this step removes them, and the next object has the same
 * name.
 */
const letGo = (place: Place): Step => ({
  method: 'PATCH',
  path: place.itemPath,
  headers: { 'content-type': 'application/merge-patch+json' },
  body: { metadata: { finalizers: null } },
})
const remove = (place: Place): Step => ({
  method: 'DELETE',
  path: `${place.itemPath}?gracePeriodSeconds=0`,
})

async function withObject(walk: Walk, place: Place, what: () => Promise<void>): Promise<void> {
  walk.servers.forget()
  await askOne(walk, make(place), `${place.title} itself`)
  await what()
  await walk.servers.ask(letGo(place), walk.id)
  await walk.servers.ask(remove(place), walk.id)
}

/** Random changes, each over what the one before left; those that are refused change nothing. */
async function turns(walk: Walk, place: Place, random: Random, count: number): Promise<void> {
  const all = [...fieldChanges(place.type, declared, place.walked)].filter(
    ({ path }) => path[0] !== 'status' && path[0] !== 'metadata',
  )
  let object = place.object
  await withObject(walk, place, async () => {
    for (let i = 0; i < count && (walk.different === 0 || walk.keepGoing); i++) {
      const change = random.pick(all)
      const body = changed(object, place.type, change, declared)
      const { path, ...step } = replacement(place, body)
      const write = { ...step, path: path.replace('?dryRun=All', '') }
      const status = await askOne(walk, write, `${place.title} turn ${i} ${shownChange(change)}`)
      if (status < 300) object = body
    }
  })
}

/** New objects with two to five random changes each. */
function* mixes(place: Place, random: Random, count: number): Generator<[FieldChange, Step]> {
  const all = [...fieldChanges(place.type, declared, place.walked)].filter(
    ({ path }) => path[0] !== 'status' && path[0] !== 'metadata',
  )
  for (let i = 0; i < count; i++) {
    const changes = Array.from({ length: 2 + random.below(4) }, () => random.pick(all))
    let body = place.object
    for (const change of changes) body = changed(body, place.type, change, declared)
    const shown = { path: changes.map(shownChange), value: undefined }
    yield [shown, { method: 'POST', path: `${place.path}?dryRun=All`, body }]
  }
}

/** Requests that are no objects, each field of their bodies changed in turn. */
async function requests(walk: Walk, one: WalkedRequest, every: number): Promise<void> {
  const { method, path, body, about } = JSON.parse(
    JSON.stringify(one).replaceAll('{id}', walk.id),
  ) as WalkedRequest
  const type = typeOf(body.apiVersion as string, body.kind as string)
  const walked = (field: string) =>
    field !== 'apiVersion' && field !== 'kind' && !/^metadata\.(?!name$|namespace$)/.test(field)
  function* steps(): Generator<[FieldChange, Step]> {
    let i = 0
    for (const change of fieldChanges(type, declared, walked)) {
      if (i++ % every !== 0) continue
      yield [
        change,
        { method, path: `${path}?dryRun=All`, body: changed(body, type, change, declared) },
      ]
    }
  }
  const title = `${method} ${one.path}`
  if (about !== undefined)
    await walk.servers.ask({ method: 'POST', path: about[0], body: about[1] }, walk.id)
  await askAll(walk, steps(), title)
  if (about === undefined) return
  const { name } = about[1].metadata as { name: string }
  await walk.servers.ask(
    { method: 'DELETE', path: `${about[0]}/${name}?gracePeriodSeconds=0` },
    walk.id,
  )
}

async function surround(walk: Walk, method: 'POST' | 'DELETE'): Promise<void> {
  for (const [path, body] of surroundings) {
    const at = path.replace('{id}', walk.id)
    const { name } = body.metadata as { name: string }
    const step = method === 'POST' ? { method, path: at, body } : { method, path: `${at}/${name}` }
    await askOne(walk, step, `surroundings ${name}`)
  }
}

async function main(): Promise<number> {
  const { seed, count, only, keepGoing, servers, more } = await settingsOf(process.argv.slice(2), {
    way: { type: 'string', default: 'create,update,status' },
    field: { type: 'string' },
    every: { type: 'string', default: '1' },
    surrounded: { type: 'boolean', default: false },
  })
  const id = `f${Date.now().toString(36)}`
  const walk: Walk = { servers, id, keepGoing, asked: 0, accepted: 0, different: 0 }
  const field = more.field === undefined ? undefined : new RegExp(String(more.field))
  const every = Number(more.every)
  const ways = String(more.way).split(',')
  await servers.makeNamespace(id)
  if (more.surrounded === true) {
    await surround(walk, 'POST')
    // Plugins of both look at what their caches know.
    await new Promise((resolve) => setTimeout(resolve, 3000))
  }
  for (const one of ways.includes('request') ? walkedRequests : []) {
    if (only === undefined || only.test(one.path)) await requests(walk, one, every)
  }
  for (const [i, one] of walkedObjects.entries()) {
    const place = placeOf(one, id, field)
    if (only !== undefined && !only.test(place.title)) continue
    const before = { ...walk }
    if (ways.includes('create')) await askAll(walk, creates(place, every), place.title)
    if (ways.includes('update') || ways.includes('status')) {
      await withObject(walk, place, async () => {
        if (ways.includes('update'))
          await askAll(
            walk,
            updates(place, every, false),
            place.title,
            isWritten(place) ? 1 : atOnce,
          )
        if (ways.includes('status'))
          await askAll(
            walk,
            updates(place, every, true),
            place.title,
            isWritten(place) ? 1 : atOnce,
          )
      })
    }
    if (ways.includes('turns')) await turns(walk, place, new Random(seed + i), count)
    if (ways.includes('mix')) {
      await askAll(walk, mixes(place, new Random(seed + i), count), place.title)
    }
    const [asked, different] = [walk.asked - before.asked, walk.different - before.different]
    console.log(`== ${place.title}: ${asked} asked, ${different} answered differently`)
    if (walk.different > 0 && !keepGoing) break
  }
  if (more.surrounded === true) await surround(walk, 'DELETE')
  await servers.deleteNamespace(id)
  console.log(
    `${walk.asked} asked, ${walk.accepted} accepted, ${walk.different} answered differently`,
  )
  return walk.different === 0 ? 0 : 1
}

process.exitCode = await main()
