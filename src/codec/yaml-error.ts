/** Text that is no YAML we read. The message begins with `yaml:` where the text is at fault. */
export class YamlError extends Error {
  override name = 'YamlError'
}
