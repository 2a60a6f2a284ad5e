/** What the server runs on, in the words clients of the original know. */

const systems: ReadonlyMap<string, string> = new Map([['win32', 'windows']])

const processors: ReadonlyMap<string, string> = new Map([
  ['x64', 'amd64'],
  ['ia32', '386'],
  ['ppc64', 'ppc64le'],
])

/** `linux/amd64` */
export function platformOf(system: string, processor: string): string {
  return `${systems.get(system) ?? system}/${processors.get(processor) ?? processor}`
}
