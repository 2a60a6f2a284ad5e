/** A header as one text: what a client sends in several lines counts as joined by commas. */
export const headerText = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(',') : (value ?? '')
