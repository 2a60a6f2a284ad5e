/**
 * The same text as one piece of memory. What is joined or cut from others keeps pointing to them
 * for a while, and JSON.stringify leaves its fast way at the first such text: a whole object is
 * then written two to four times as slowly. For texts that are made once and written often.
 */
export const flatText = (text: string): string => Buffer.from(text).toString()
