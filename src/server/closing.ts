/**
 * Closes a server in steps, one after another. A step that fails or takes too long is reported, and
 * the next step runs anyway.
 */

export interface ClosingStep {
  readonly name: string
  run(): void | Promise<void>
  /** How long this step may take; the default is enough for running requests to end. */
  readonly timeoutMs?: number
}

/** Some steps failed. The server is closed as far as it can be. */
export class ClosedWithProblems extends Error {
  override name = 'ClosedWithProblems'
  /** One line for each failed step: `store: the disk is full`. */
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('; '))
    this.problems = problems
  }
}

const stepTimeoutMs = 60_000

/** Rejects with ClosedWithProblems once every step has run, if one of them failed. */
export async function runClosing(steps: readonly ClosingStep[]): Promise<void> {
  const problems: string[] = []
  for (const step of steps) {
    const problem = await runStep(step)
    if (problem !== undefined) problems.push(`${step.name}: ${problem}`)
  }
  if (problems.length > 0) throw new ClosedWithProblems(problems)
}

/** Why a step failed, or undefined. */
async function runStep(step: ClosingStep): Promise<string | undefined> {
  const limitMs = step.timeoutMs ?? stepTimeoutMs
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`not done after ${limitMs} ms`), limitMs)
  })
  const done = async () => {
    await step.run()
    return undefined
  }
  try {
    return await Promise.race([done(), late])
  } catch (error) {
    return (error as Error).message
  } finally {
    clearTimeout(timer)
  }
}
