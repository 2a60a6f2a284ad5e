/** The validation rules of one version of a custom kind, for whole objects. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { Json } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import type { Correlation } from './correlation.ts'
import { BudgetSpent, RuleRun } from './rule-run.ts'
import type { RuleTimer } from './rule-timer.ts'
import { RuleTree } from './rule-tree.ts'

export interface RuleSettings {
  readonly release: Release
  /** Whether unchanged values may break rules (ratcheting). */
  readonly ratchets: boolean
  readonly timed: RuleTimer
}

const enumsBlockRules = change('validation rules do not run on values that an enum forbids', {
  since: 29,
})

/** Rules may rely on the schema: they do not run on an object that breaks it in these ways. */
const blocking: ReadonlySet<FieldError['type']> = new Set<FieldError['type']>([
  ...(['FieldValueRequired', 'FieldValueTooLong', 'FieldValueTooMany'] as const),
  'FieldValueTypeInvalid',
])

const notChecked =
  'some validation rules were not checked because the object was invalid; ' +
  'correct the existing errors to complete validation'

export class ObjectRules {
  readonly #schema: JsonSchema
  readonly #settings: RuleSettings
  #tree: RuleTree | undefined | null = null

  constructor(schema: JsonSchema, settings: RuleSettings) {
    this.#schema = schema
    this.#settings = settings
  }

  /**
   * The errors of CEL rules. `errors` are the schema errors found so far. `before` correlates the
   * old object for ratcheting.
   */
  check(
    object: Json,
    old: Json | undefined,
    errors: readonly FieldError[],
    warn: (warning: string) => void,
    before?: Correlation,
  ): FieldError[] {
    const { release, ratchets } = this.#settings
    if (this.#tree === null) this.#tree = RuleTree.of(this.#schema, true, this.#settings)
    if (this.#tree === undefined) return []
    if (errors.some(({ type }) => this.#isBlocking(type)))
      return [invalid(FieldPath.none, null, notChecked)]
    const run = new RuleRun(release, ratchets, warn)
    withinBudget(() => this.#tree?.check(run, FieldPath.none, object, old, before))
    return run.errors
  }

  #isBlocking(type: FieldError['type']): boolean {
    if (blocking.has(type)) return true
    return type === 'FieldValueNotSupported' && this.#settings.release.has(enumsBlockRules)
  }
}

/** Runs rules until their budget is spent. */
function withinBudget(check: () => void): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
  }
}

/**
 * The errors of a default value under its schema's rules, as an unchanged and as a new value.
 * Returns the remaining cost budget for other defaults.
 */
export function checkDefaultRules(
  schema: JsonSchema,
  isRoot: boolean,
  path: FieldPath,
  budget: number,
  settings: RuleSettings,
): { errors: FieldError[]; budget: number } {
  const { release, ratchets } = settings
  const value = schema.default as Json
  const tree = RuleTree.of(schema, isRoot, settings)
  if (tree === undefined) return { errors: [], budget }
  const runs = [value, ...(ratchets ? [undefined] : [])].map((old) => {
    const run = new RuleRun(release, ratchets, () => {}, budget)
    withinBudget(() => tree.check(run, path, value, old, undefined))
    return run
  })
  const failed = runs.find(({ errors }) => errors.length > 0)
  return {
    errors: failed?.errors ?? [],
    budget: Math.min(...runs.map((run) => run.budget)),
  }
}
