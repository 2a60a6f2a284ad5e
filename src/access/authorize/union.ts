/**
 * Combines several authorization modes. The first mode that allows or denies decides. If none does,
 * the result has the reasons of all modes. Asynchronous only if a mode is.
 */
import {
  type Attributes,
  type Authorizer,
  type Decision,
  noOpinion,
  type RuleResolver,
  type Rules,
} from '#access/authorize.ts'
import { change } from '#api/releases/change.ts'
import { joinErrors } from '#access/error-list.ts'
import type { User } from '#access/user.ts'

export const namesAuthorizers = change('reasons of a 403 begin with the name of the authorizer', {
  since: 37,
})

export class UnionAuthorizer implements Authorizer {
  readonly name = 'union'
  readonly #modes: readonly Authorizer[]
  readonly #names: readonly string[] | undefined

  /** `names` precede the reasons of the modes; undefined if reasons have no names. */
  constructor(modes: readonly Authorizer[], names?: readonly string[]) {
    this.#modes = modes
    this.#names = names
  }

  authorize(attributes: Attributes): Decision | Promise<Decision> {
    const undecided: Decision[] = []
    for (let i = 0; i < this.#modes.length; i++) {
      const decision = (this.#modes[i] as Authorizer).authorize(attributes)
      if (decision instanceof Promise) return this.#continue(attributes, decision, i, undecided)
      if (decision.decision !== 'none') return decision
      if (decision !== noOpinion) undecided.push(this.#named(decision, i))
    }
    return summary(undecided)
  }

  async #continue(
    attributes: Attributes,
    first: Promise<Decision>,
    at: number,
    undecided: Decision[],
  ): Promise<Decision> {
    let decision = await first
    for (let i = at; ; ) {
      if (decision.decision !== 'none') return decision
      undecided.push(this.#named(decision, i))
      if (++i === this.#modes.length) return summary(undecided)
      decision = await (this.#modes[i] as Authorizer).authorize(attributes)
    }
  }

  #named(decision: Decision, at: number): Decision {
    const { reason } = decision
    if (this.#names === undefined || reason === '') return decision
    return { ...decision, reason: `${this.#names[at]}: ${reason}` }
  }
}

function summary(undecided: readonly Decision[]): Decision {
  if (undecided.length === 0) return noOpinion
  const errors = undecided.flatMap(({ error }) => (error === undefined ? [] : [error]))
  return {
    decision: 'none',
    reason: undecided
      .map(({ reason }) => reason)
      .filter((reason) => reason !== '')
      .join('\n'),
    ...(errors.length > 0 && { error: joinErrors(errors) }),
  }
}

export class UnionRuleResolver implements RuleResolver {
  readonly #modes: readonly RuleResolver[]

  constructor(modes: readonly RuleResolver[]) {
    this.#modes = modes
  }

  rulesFor(user: User, namespace: string): Rules {
    const all = this.#modes.map((mode) => mode.rulesFor(user, namespace))
    return {
      resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
      incomplete: all.some(({ incomplete }) => incomplete),
      errors: all.flatMap(({ errors }) => errors),
    }
  }
}
