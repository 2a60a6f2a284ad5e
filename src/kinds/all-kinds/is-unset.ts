/** Whether a value is undefined or null. */

export const isUnset = (value: unknown): boolean => value === undefined || value === null
