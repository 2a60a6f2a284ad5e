/** Whether the text of an annotation is a whole number, as Go parses one. */

export const isNumber = (text: string): boolean => /^[+-]?[0-9]+$/.test(text)
