/**
 * The store behind --encryption-provider-config: which of its keys are sealed, and by which
 * provider. A resource is named by its plural and the group it is stored for; `*` in a group are
 * all of it that are not named. Custom resources, their definitions and API services are never
 * sealed: kube-apiserver 1.22 reads them as they are.
 */
import { readFileSync } from 'node:fs'
import type { Catalog } from '#kinds/catalog.ts'
import { type Provider, type Sealer, sealerOf } from '#storage/seal/sealer.ts'
import { SealedStorage } from '#storage/sealed.ts'
import type { Storage } from '#storage/storage.ts'
import { CannotStart } from './cannot-start.ts'
import { readEncryptionConfig, type SealedResources } from './encryption-config.ts'

const neverSealed: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io'])

/** State of the server itself, by the name that decides about it. */
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

/** By the beginning of keys: `/registry/secrets`. */
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

/** A resource that is named more than once has the providers of all, in their order. */
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
