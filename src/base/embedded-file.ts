/**
 * Files inside the executable: the single executable carries its data and the code of its threads.
 * Reading one is no I/O; the system has mapped the executable.
 */

/** The text of an embedded file; undefined if this process is not the single executable. */
export function embeddedFile(name: string): string | undefined {
  const sea = process.getBuiltinModule('node:sea')
  return sea.isSea() ? sea.getAsset(name, 'utf8') : undefined
}
