/**
 * Health checks and the reports of /livez, /readyz and /healthz. A check returns a problem, or
 * undefined if it passes.
 */
export interface HealthCheck {
  readonly name: string
  check(): string | undefined | Promise<string | undefined>
}

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz'

export interface HealthReport {
  readonly healthy: boolean
  /** The response for `?verbose`, and for every failure. */
  readonly text: string
  /** The causes, for the log. */
  readonly problems: readonly string[]
}

export async function runChecks(
  endpoint: HealthEndpoint,
  checks: readonly HealthCheck[],
  excluded: ReadonlySet<string>,
  /** The name in the last line of the response. */
  title: HealthEndpoint = endpoint,
  checked: (name: string, isWell: boolean) => void = () => {},
): Promise<HealthReport> {
  let text = ''
  const problems: string[] = []
  const unused = new Set(excluded)
  for (const { name, check } of checks) {
    if (excluded.has(name)) {
      unused.delete(name)
      text += `[+]${name} excluded: ok\n`
      continue
    }
    const problem = await check()
    checked(name, problem === undefined)
    if (problem === undefined) text += `[+]${name} ok\n`
    else {
      text += `[-]${name} failed: reason withheld\n`
      problems.push(`${name}: ${problem}`)
    }
  }
  if (unused.size > 0) {
    const names = [...unused].sort().map((name) => JSON.stringify(name))
    text += `warn: some health checks cannot be excluded: no matches for ${names.join(', ')}\n`
  }
  const healthy = problems.length === 0
  text += `${title} check ${healthy ? 'passed' : 'failed'}\n`
  return { healthy, text, problems }
}
