/** A YAML text that cannot be read. The message begins with `yaml:` if the text is invalid. */
export class YamlError extends Error {
  override name = 'YamlError'
}
