/** Whether a value is absent: not there, or null. */

export const isUnset = (value: unknown): boolean => value === undefined || value === null
