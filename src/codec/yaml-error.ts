/**
 * The error for a YAML text that cannot be decoded. The message begins with `yaml:` if the text is
 * invalid.
 */
export class YamlError extends Error {
  override name = 'YamlError'
}
