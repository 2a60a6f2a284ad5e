/**
 * Encryption of stored values according to --encryption-provider-config: which keys are sealed, and
 * by which provider. A row names a resource by its plural and the group in which it is stored. `*`
 * in a group means all of its resources without a row. Custom resources, their definitions and API
 * services are never sealed, because kube-apiserver 1.22 reads them in plain.
 */
import { readFileSync } from 'node:fs'
import type { Catalog } from '#kinds/catalog.ts'
import { type Provider, type Sealer, sealerOf } from '#storage/seal/sealer.ts'
import { SealedStorage } from '#storage/sealed.ts'
import type { Storage } from '#storage/storage.ts'
import { CannotStart } from './cannot-start.ts'
import { readEncryptionConfig, type SealedResources } from './encryption-config.ts'

const neverSealed: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io'])

/** Keys with the server's own state, by the resource whose row applies to them. */
const ownState = [
  { group: '', plural: 'services', prefix: 'ranges' },
  { group: '', plural: 'apiServerIPInfo', prefix: 'masterleases' },
]

export function sealing(file: string, catalog: Catalog, root: string): (inner: Storage) => Storage {
  const sealers = sealersBy(readConfig(file), catalog, root)
  return (inner) => new SealedStorage({ inner, sealers, root })
}

function readConfig(file: string): SealedResources[] {
  try {
    return readEncryptionConfig(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new CannotStart(
      `--encryption-provider-config: error while parsing encryption provider configuration file "${file}": error while parsing file: ${(error as Error).message}`,
      { cause: error },
    )
  }
}

/** Providers by key prefix: `/registry/secrets`. */
function sealersBy(
  config: readonly SealedResources[],
  catalog: Catalog,
  root: string,
): Map<string, Sealer> {
  const named = sealersByName(config)
  const sealers = new Map<string, Sealer>()
  const add = (group: string, plural: string, prefix: string) => {
    const sealer = named.get(nameOf(group, plural)) ?? named.get(nameOf(group, '*'))
    if (sealer !== undefined) sealers.set(prefix, sealer)
  }
  for (const { group, plural, storagePrefix } of catalog.resources()) {
    if (storagePrefix !== '' && !neverSealed.has(group)) add(group, plural, storagePrefix)
  }
  for (const { group, plural, prefix } of ownState) add(group, plural, `${root}/${prefix}`)
  return sealers
}

const nameOf = (group: string, plural: string): string => `${plural}.${group}`

/** A resource that several rows name has the providers of all rows, in order. */
function sealersByName(config: readonly SealedResources[]): Map<string, Sealer> {
  const providersOf = new Map<string, Provider[]>()
  for (const { resources, providers } of config) {
    for (const written of resources) {
      const name = written.includes('.') ? written : nameOf('', written)
      providersOf.set(name, [...(providersOf.get(name) ?? []), ...providers])
    }
  }
  return new Map([...providersOf].map(([name, providers]) => [name, sealerOf(providers)]))
}
