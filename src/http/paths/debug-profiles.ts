/**
 * /debug/pprof: CPU and memory profiles in V8's format. Browsers' developer tools open them; Go's
 * pprof does not. Only one profile is taken at a time, and none is stored.
 */
import type { Session } from 'node:inspector/promises'
import { answerHeaders } from '#http/response/answer-headers.ts'
import type { Exchange } from '#http/exchange.ts'
import type { PathHandler } from '#http/parts.ts'
import { send } from '#http/response/respond.ts'

const prefix = '/debug/pprof'
const text = { contentType: 'text/plain; charset=utf-8' }
const json = { contentType: 'application/json' }
const secondsDefault = 30
/** The maximum duration of a profile, because a profile grows with its duration. */
const secondsMax = 300

type Take = (session: Session, wait: () => Promise<void>) => Promise<object>

const profiles: Readonly<Record<string, { readonly ending: string; readonly take: Take }>> = {
  profile: {
    ending: 'cpuprofile',
    async take(session, wait) {
      await session.post('Profiler.enable')
      await session.post('Profiler.start')
      await wait()
      return (await session.post('Profiler.stop')).profile
    },
  },
  heap: {
    ending: 'heapprofile',
    async take(session, wait) {
      await session.post('HeapProfiler.enable')
      await session.post('HeapProfiler.startSampling')
      await wait()
      return (await session.post('HeapProfiler.stopSampling')).profile
    },
  },
}

const list = `${prefix}/

profile?seconds=${secondsDefault}  where time is spent, as a V8 CPU profile (.cpuprofile)
heap?seconds=${secondsDefault}     what memory is taken for, as a V8 sampling heap profile (.heapprofile)
`

export function debugProfilesPaths(): PathHandler {
  let isTaking = false
  return {
    matches: (path) => path === prefix || path.startsWith(`${prefix}/`),
    async handle(exchange) {
      const { path } = exchange.target
      if (path === prefix) return redirect(exchange)
      const name = path.slice(prefix.length + 1)
      if (name === '') return send(exchange, 200, text, Buffer.from(list))
      if (!Object.hasOwn(profiles, name)) return say(exchange, 404, 'Unknown profile')
      const seconds = Number(exchange.query.get('seconds') || secondsDefault)
      if (!(seconds > 0 && seconds <= secondsMax))
        return say(exchange, 400, `seconds must be a number up to ${secondsMax}`)
      if (isTaking) return say(exchange, 500, 'a profile is being taken already')
      isTaking = true
      const taken = await takeProfile(exchange, name, seconds).finally(() => {
        isTaking = false
      })
      answerProfile(exchange, name, taken)
    },
  }
}

async function takeProfile(exchange: Exchange, name: string, seconds: number): Promise<Buffer> {
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  try {
    const profile = await profiles[name].take(session, () => untilOver(exchange, seconds))
    return Buffer.from(JSON.stringify(profile))
  } finally {
    session.disconnect()
  }
}

function answerProfile(exchange: Exchange, name: string, body: Buffer): void {
  const headers = answerHeaders(exchange, json.contentType)
  headers['content-disposition'] = `attachment; filename="${name}.${profiles[name].ending}"`
  exchange.status = 200
  exchange.answeredBytes = body.length
  exchange.wire.answer(200, headers, body)
}

/** Ends early if the client disconnects. */
function untilOver({ wire }: Exchange, seconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000)
    wire.signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function redirect(exchange: Exchange): void {
  exchange.status = 302
  exchange.wire.answer(
    302,
    { ...answerHeaders(exchange, text.contentType), location: `${prefix}/` },
    Buffer.from(''),
  )
}

const say = (exchange: Exchange, status: number, line: string) =>
  send(exchange, status, text, Buffer.from(`${line}\n`))
