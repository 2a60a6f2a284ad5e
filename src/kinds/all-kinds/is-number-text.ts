/** Whether an annotation is an integer that Go can parse. */

export const isNumber = (text: string): boolean => /^[+-]?[0-9]+$/.test(text)
