/**
 * Objects of every built-in kind, with their fields changed one by one, in protobuf: what a real
 * server writes this one must read as that one does, and the other way round. Both get the JSON, a
 * request for protobuf, and each other's bytes.
 *
 *   node tools/run.mjs file conformance/walk-protobuf.ts --peer URL --ours URL [--only REGEX]
 *       [--every N] [--keep-going]
 */
import { Agent, request } from 'node:https'
import { pathToFileURL } from 'node:url'
import { changed, fieldChanges } from './field-changes.ts'
import { type Replayer, settingsOf, showDifference } from './two-servers.ts'
import { declaredValues } from './types-of-facts.ts'
import { walkedObjects } from './walked-objects.ts'
import { placeOf, shownChange } from './walked-place.ts'
import { withoutChance } from './without-chance.ts'

const settings = await settingsOf(process.argv.slice(2), {
  every: { type: 'string', default: '5' },
})
const { only, keepGoing, servers, more } = settings
const [peer, ours] = [String(more.peer), String(more.ours)]
const lib = (await import(pathToFileURL(String(more.lib)).href)) as Replayer
const declared = declaredValues()
const agent = new Agent({ keepAlive: true, maxSockets: 8, rejectUnauthorized: false })
const id = `f${Date.now().toString(36)}`
const protobuf = 'application/vnd.kubernetes.protobuf'

interface Raw {
  readonly status: number
  readonly headers: Record<string, string | undefined>
  readonly bytes: Buffer
}

function post(server: string, path: string, type: string, body: Buffer, accept: string) {
  const headers = {
    authorization: 'Bearer admin-token',
    accept,
    'content-type': type,
    'content-length': body.length,
  }
  return new Promise<Raw>((resolve, reject) => {
    const sent = request(new URL(path, server), { method: 'POST', agent, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers as Record<string, string | undefined>,
          bytes: Buffer.concat(chunks),
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const seen = ({ status, headers, bytes }: Raw) =>
  withoutChance(lib.observe({ status, headers, text: bytes.toString('utf8') }, id))

let asked = 0
let different = 0

async function compare(path: string, body: Buffer, title: string): Promise<void> {
  const answers = await Promise.all(
    [peer, ours].map((server) => post(server, path, protobuf, body, 'application/json')),
  )
  asked++
  const [want, got] = answers.map((answer) => seen(answer))
  const difference = lib.firstDiff(want, got)
  if (difference === undefined) return
  different++
  console.log(`${title}\n  ${showDifference(difference)}`)
}

await servers.makeNamespace(id)
for (const one of walkedObjects) {
  const place = placeOf(one, id, undefined)
  if (only !== undefined && !only.test(place.title)) continue
  const path = `${place.path}?dryRun=All`
  let i = 0
  for (const change of fieldChanges(place.type, declared, place.walked)) {
    if (i++ % Number(more.every) !== 0) continue
    const text = JSON.stringify(changed(place.object, place.type, change, declared))
    const [theirs, own] = await Promise.all(
      [peer, ours].map((server) =>
        post(server, path, 'application/json', Buffer.from(text), protobuf),
      ),
    )
    if (theirs?.status !== 201 || own?.status !== 201) continue
    await compare(path, theirs.bytes, `theirs ${place.title} ${shownChange(change)}`)
    await compare(path, own.bytes, `ours ${place.title} ${shownChange(change)}`)
    if (different > 0 && !keepGoing) break
  }
  if (different > 0 && !keepGoing) break
}
await servers.deleteNamespace(id)
agent.destroy()
console.log(`${asked} asked, ${different} answered differently`)
process.exitCode = different === 0 ? 0 : 1
