/**
 * /healthz, /livez and /readyz, and their individual checks. Programs read the status; the text is
 * for users.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { HealthEndpoint, HealthCheck } from '#observe/health.ts'
import { runChecks } from '#observe/health.ts'
import type { CheckMetrics } from '#observe/metrics/check-metrics.ts'
import type { AnswerHeaders, Exchange } from '#http/exchange.ts'
import type { PathHandler } from '#http/parts.ts'
import { answerHeaders } from '#http/response/answer-headers.ts'

export interface HealthChecks {
  readonly healthz: () => readonly HealthCheck[]
  readonly livez: () => readonly HealthCheck[]
  readonly readyz: () => readonly HealthCheck[]
}

const textType = 'text/plain; charset=utf-8'
/** A header of all responses except that of a successful individual check. */
const neverGuess: AnswerHeaders = { 'x-content-type-options': 'nosniff' }

const namesEndpoint = change('the last line of livez and readyz names the endpoint', { since: 20 })

const endpoints = ['healthz', 'livez', 'readyz'] as const
const hasLivez = change('livez and readyz are served', { since: 16 })

/** The endpoints that exist in a release. */
export const endpointsOf = (release: number): readonly HealthEndpoint[] =>
  releaseOf(release).has(hasLivez) ? endpoints : endpoints.slice(0, 1)

export function healthPaths(
  checks: HealthChecks,
  release: number,
  report: (problem: string) => void,
  metrics?: () => CheckMetrics,
): PathHandler {
  const pattern = /^\/(healthz|livez|readyz)(?:\/(.+))?$/
  const had = endpointsOf(release)
  return {
    matches(path) {
      const found = pattern.exec(path)
      if (found === null) return false
      const [, endpoint, name] = found as unknown as [string, HealthEndpoint, string?]
      // /readyz exists in every release, because the program that starts the server checks it.
      if (name === undefined) return true
      return had.includes(endpoint) && checks[endpoint]().some((check) => check.name === name)
    },
    async handle(exchange) {
      const [, endpoint, name] = pattern.exec(exchange.target.path) as unknown as [
        string,
        HealthEndpoint,
        string?,
      ]
      const all = checks[endpoint]()
      const title = releaseOf(release).has(namesEndpoint) ? endpoint : 'healthz'
      if (name === undefined) return answerAll(exchange, { endpoint, title, report, metrics }, all)
      const problem = await all.find((check) => check.name === name)?.check()
      if (problem === undefined) return answer(exchange, 200, 'ok', {})
      report(`${name}: ${problem}`)
      answer(exchange, 500, `internal server error: ${problem}\n`)
    },
  }
}

interface Endpoint {
  readonly endpoint: HealthEndpoint
  readonly title: HealthEndpoint
  readonly report: (problem: string) => void
  readonly metrics: (() => CheckMetrics) | undefined
}

async function answerAll(
  exchange: Exchange,
  { endpoint, title, report, metrics }: Endpoint,
  all: readonly HealthCheck[],
): Promise<void> {
  const { query } = exchange
  const excluded = new Set(query.getAll('exclude'))
  const { healthy, text, problems } = await runChecks(
    endpoint,
    all,
    excluded,
    title,
    (name, isWell) => metrics?.().checked(name, endpoint, isWell),
  )
  if (healthy) return answer(exchange, 200, query.has('verbose') ? text : 'ok')
  for (const problem of problems) report(`${endpoint}: ${problem}`)
  answer(exchange, 500, text)
}

function answer(exchange: Exchange, status: number, text: string, more = neverGuess): void {
  const body = Buffer.from(text)
  exchange.status = status
  exchange.answeredBytes = body.length
  exchange.wire.answer(status, { ...answerHeaders(exchange, textType), ...more }, body)
}
