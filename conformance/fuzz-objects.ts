/**
 * Random objects, sent as dry-run creates to a real server and to this one: their answers must be
 * the same.
 *
 *   node tools/run.mjs file conformance/fuzz-objects.ts --peer URL --ours URL [--seed N]
 *       [--count N] [--only REGEX]
 *
 * Each object has a seed of its own, printed with the first difference: `--seed THAT --count 1`
 * repeats it.
 */
import { damage, grow } from './damage.ts'
import { Random } from './random.ts'
import { type Sample, sampleFor, samples } from './sample-objects.ts'
import { settingsOf, showDifference } from './two-servers.ts'
import { declaredValues, typeOf } from './types-of-facts.ts'

const declared = declaredValues()

function randomRequest(seed: number, from: readonly Sample[], id: string) {
  const random = new Random(seed)
  const { object, path } = sampleFor(random.pick(from), id)
  const type = typeOf(object.apiVersion as string, object.kind as string)
  for (let i = random.below(4); i > 0; i--) grow(type, object, random, declared)
  if (random.chance(0.5)) damage(object, random)
  return { method: 'POST', path: `${path}?dryRun=All`, body: object }
}

/** A kube-apiserver that panics resets the connection: there is no answer to compare. */
function ignoreReset(error: { code?: string }): undefined {
  if (error.code !== 'ECONNRESET') throw error
}

async function main(): Promise<number> {
  const { seed, count, only, keepGoing, servers } = await settingsOf(process.argv.slice(2))
  const from = samples.filter(({ plural }) => only === undefined || only.test(plural))
  const id = `f${Date.now().toString(36)}`
  await servers.makeNamespace(id)
  let different = 0
  let accepted = 0
  try {
    for (let i = 0; i < count; i++) {
      const step = randomRequest(seed + i, from, id)
      const compared = await servers.ask(step, id).catch(ignoreReset)
      if (compared === undefined) continue
      const { want, difference } = compared
      if (want.status < 300) accepted++
      if (difference === undefined) continue
      different++
      console.log(`seed ${seed + i}: ${step.method} ${step.path}\n    ${JSON.stringify(step.body)}`)
      console.log(`  ${showDifference(difference)}`)
      if (!keepGoing) break
    }
  } finally {
    await servers.deleteNamespace(id)
  }
  console.log(
    `${count} objects from seed ${seed}, ${accepted} accepted, ${different} answered differently`,
  )
  return different === 0 ? 0 : 1
}

process.exitCode = await main()
