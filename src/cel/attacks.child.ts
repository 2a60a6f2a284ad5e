/** Runs every attack in a process with a small heap and writes how each ended, one line each. */
import { releaseOf } from '#api/releases/change.ts'
import { type Attack, attacks } from './attacks.fixture.ts'
import { dynType } from './cel-type.ts'
import { activationOf, compile, Expression } from './compile.ts'
import { celEnvironment } from './environment.ts'
import { jsonView } from './json-view.ts'
import { PlanError } from './plan-error.ts'
import { costExceeded } from './program.ts'

const environment = celEnvironment(releaseOf(37), 'stored')
/** What one expression may cost in kube-apiserver. */
const costMax = 1_000_000

function run({ text, self }: Attack): Attack['ends'] {
  const variables = new Map([['self', dynType]])
  const compiled = compile(text, environment, { variables })
  if (!(compiled instanceof Expression)) return 'rejected'
  try {
    const activation = activationOf({ self: jsonView(self?.()) })
    const { value } = compiled.program().evaluate(activation, costMax)
    return value === costExceeded ? 'stops' : 'ends'
  } catch (error) {
    if (error instanceof PlanError) return 'rejected'
    throw error
  }
}

for (const attack of attacks) {
  const began = performance.now()
  const ends = run(attack)
  console.log(
    JSON.stringify({ name: attack.name, ends, ms: Math.round(performance.now() - began) }),
  )
}
