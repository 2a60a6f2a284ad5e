/**
 * The configuration of plugins: an AdmissionConfiguration with a section for each plugin, in the
 * same file or in a separate one.
 */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Loose } from '#api/object-meta.ts'
import { parseYaml } from '#codec/yaml.ts'

export type PluginConfigurations = ReadonlyMap<string, Loose>

/** Old configurations without a kind: the whole file configures one plugin. */
const unversioned: Readonly<Record<string, string>> = {
  imagePolicy: 'ImagePolicyWebhook',
  podNodeSelectorPluginConfig: 'PodNodeSelector',
}
const versions = ['apiserver.config.k8s.io/v1', 'apiserver.k8s.io/v1alpha1']

/** Throws an error with the file name if the file is invalid. */
export async function readConfigurations(file: string): Promise<PluginConfigurations> {
  const read = (path: string): Loose => {
    let value: unknown
    try {
      value = parseYaml(readFileSync(path, 'utf8'))
    } catch (error) {
      throw new Error(
        `unable to read admission control configuration from "${path}" [${(error as Error).message}]`,
      )
    }
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Loose
    throw new Error(`admission control configuration "${path}" is no object`)
  }
  const whole = read(file)
  for (const [field, plugin] of Object.entries(unversioned)) {
    if (whole.kind === undefined && whole[field] !== undefined) return new Map([[plugin, whole]])
  }
  if (whole.kind !== 'AdmissionConfiguration' || !versions.includes(whole.apiVersion)) {
    throw new Error(
      `no kind "${whole.kind ?? ''}" is registered for version "${whole.apiVersion ?? ''}" in "${file}"; known is AdmissionConfiguration of ${versions.join(' and ')}`,
    )
  }
  const found = new Map<string, Loose>()
  for (const { name, path, configuration } of (whole.plugins ?? []) as Loose[]) {
    if (found.has(name)) continue
    if (configuration) found.set(name, configuration)
    else if (path) found.set(name, read(resolve(dirname(file), path)))
  }
  return found
}
