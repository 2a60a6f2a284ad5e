/**
 * Selects the CEL environment for an expression. An expression of the stored object may use
 * everything that the release supports. A new expression may use only what the previous release
 * supports, so that a downgrade stays possible.
 */
import type { EnvironmentKind } from '#cel/environment.ts'
import type { Loose } from '#api/object-meta.ts'

/** Stored expressions by position. An expression at a new position counts as new. */
export class StoredExpressions {
  readonly #conditions: ReadonlySet<string>
  readonly #validations: ReadonlySet<string>
  readonly #messages: ReadonlySet<string>
  readonly #annotations: ReadonlySet<string>
  readonly #applied: ReadonlySet<string>

  /** `holder`: a policy's spec or a webhook; absent when the object is new. */
  constructor(holders: readonly Loose[]) {
    const all = (field: string): Loose[] => holders.flatMap((holder) => holder[field] ?? [])
    const texts = (list: Loose[], field: string) =>
      new Set(list.map((one) => one[field] as string | undefined).filter(isText))
    this.#conditions = texts(all('matchConditions'), 'expression')
    this.#validations = texts(all('validations'), 'expression')
    this.#messages = texts(all('validations'), 'messageExpression')
    this.#annotations = texts(all('auditAnnotations'), 'valueExpression')
    const applied = all('mutations').map(({ applyConfiguration }) => applyConfiguration ?? {})
    this.#applied = texts(applied, 'expression')
  }

  condition(text: string): EnvironmentKind {
    return kindOf(this.#conditions, text)
  }

  /** As in kube-apiserver, variables of a policy are also searched among its validations. */
  validation(text: string): EnvironmentKind {
    return kindOf(this.#validations, text)
  }

  message(text: string): EnvironmentKind {
    return kindOf(this.#messages, text)
  }

  annotation(text: string): EnvironmentKind {
    return kindOf(this.#annotations, text)
  }

  /** Both types of patches are searched among the apply configurations. */
  mutation(text: string): EnvironmentKind {
    return kindOf(this.#applied, text)
  }
}

const isText = (text: string | undefined): text is string => text !== undefined

const kindOf = (known: ReadonlySet<string>, text: string): EnvironmentKind =>
  known.has(text) ? 'stored' : 'new'
