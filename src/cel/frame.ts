/**
 * What one evaluation works on: the variables, the values of macros, and the budget.
 * The budget is cost, never time: the same expression on the same object always stops at the same
 * place.
 */
import type { Value } from './values.ts'

/** The variables of an expression. Values may be made when they are first requested. */
export interface Activation {
  /** Undefined if there is no such variable. */
  find(name: string): Value | undefined
}

/** Thrown inside an evaluation that has used its budget. The program returns it as a value. */
export class CostExceeded {}

/**
 * Thrown where kube-apiserver fails inside a function, which ends the evaluation whatever is around
 * the call.
 */
export class EvaluationFailed {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

export class Frame {
  readonly activation: Activation
  readonly limit: number
  /** Values of comprehension variables, by the slot that the compiler gave each. */
  readonly slots: (Value | undefined)[]
  cost = 0
  constructor(activation: Activation, limit: number, slotCount: number) {
    this.activation = activation
    this.limit = limit
    this.slots = new Array(slotCount)
  }

  spend(cost: number): void {
    this.cost += cost
    if (this.cost > this.limit) throw new CostExceeded()
  }
}

/** A compiled node of an expression. */
export type Step = (frame: Frame) => Value
