/**
 * Random texts, sent as dry-run creates to a real server and to this one: where they cannot be
 * read, both must say so in the same words.
 *
 *   node tools/run.mjs file conformance/fuzz-texts.ts --peer URL --ours URL [--seed N]
 *       [--count N] [--only REGEX]
 */
import { grow } from './damage.ts'
import { oddText } from './odd-text.ts'
import { Random } from './random.ts'
import { type Sample, sampleFor, samples } from './sample-objects.ts'
import { settingsOf, showDifference } from './two-servers.ts'
import { declaredValues, typeOf } from './types-of-facts.ts'

const declared = declaredValues()

function randomRequest(seed: number, from: readonly Sample[], id: string) {
  const random = new Random(seed)
  const { object, path } = sampleFor(random.pick(from), id)
  const type = typeOf(object.apiVersion as string, object.kind as string)
  for (let i = random.below(3); i > 0; i--) grow(type, object, random, declared)
  const headers = { 'content-type': 'application/json' }
  return { method: 'POST', path: `${path}?dryRun=All`, headers, body: oddText(object, random) }
}

async function main(): Promise<number> {
  const { seed, count, only, keepGoing, servers } = await settingsOf(process.argv.slice(2))
  const from = samples.filter(({ plural }) => only === undefined || only.test(plural))
  const id = `t${Date.now().toString(36)}`
  await servers.makeNamespace(id)
  let different = 0
  let unreadable = 0
  try {
    for (let i = 0; i < count; i++) {
      const step = randomRequest(seed + i, from, id)
      const { want, difference } = await servers.askWords(step, id)
      if (want.status === 400) unreadable++
      if (difference === undefined) continue
      different++
      console.log(`seed ${seed + i}: ${step.method} ${step.path}\n    ${step.body}`)
      console.log(`  ${showDifference(difference)}`)
      if (!keepGoing) break
    }
  } finally {
    await servers.deleteNamespace(id)
  }
  console.log(
    `${count} texts from seed ${seed}, ${unreadable} unreadable, ${different} answered differently`,
  )
  return different === 0 ? 0 : 1
}

process.exitCode = await main()
