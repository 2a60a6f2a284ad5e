/**
 * A program that cannot be made: a constant that cannot be converted, a regular expression that is
 * none.
 */
export class PlanError extends Error {}
