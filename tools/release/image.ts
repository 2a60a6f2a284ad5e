/**
 * Makes the container image of a single executable without a container engine. It is an OCI image
 * layout in one tar file, which `docker load`, `podman load`, `skopeo` and `ctr images import`
 * read. The root file system holds the executable, the shared libraries that it names, and three
 * small files of /etc; no shell, no package manager.
 *
 *   npm run image                     dist/binnacle-VERSION-linux-x64.oci.tar
 *   npm run image -- --root=FOLDER    the root file system as a folder, for the Dockerfile
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { type TarEntry, tarHeader, tarPaddingBytes } from '#base/tar.ts'
import { binaryName, makeBinary } from './binary.ts'
import { hostTarget } from './node-executable.ts'

const root = resolve(import.meta.dirname, '../..')

/** The user of distroless images: no name on most machines. */
const userId = 65_532
const executablePath = 'usr/bin/binnacle'
const defaultFlags = ['--bind-address=0.0.0.0', '--data-dir=/data']

const etcFiles: Readonly<Record<string, string>> = {
  passwd: `root:x:0:0:root:/:/none\nbinnacle:x:${userId}:${userId}:binnacle:/data:/none\n`,
  group: `root:x:0:\nbinnacle:x:${userId}:\n`,
  'nsswitch.conf': 'hosts: files dns\n',
}

/**
 * Loaded by name when an address is looked up, so that ldd does not list them. Newer C libraries
 * hold them inside.
 */
const lookupLibraries = ['libnss_files.so.2', 'libnss_dns.so.2', 'libresolv.so.2']

/** Fills a folder with the root file system. */
export function makeRoot(binary: string, folder: string): void {
  const put = (from: string, to: string, mode: number) => {
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    copyFileSync(from, join(folder, to))
    chmodSync(join(folder, to), mode)
  }
  put(binary, executablePath, 0o755)
  for (const path of librariesOf(binary)) put(path, path.slice(1), 0o755)
  for (const [name, text] of Object.entries(etcFiles)) {
    mkdirSync(join(folder, 'etc'), { recursive: true })
    writeFileSync(join(folder, 'etc', name), text, { mode: 0o644 })
  }
  mkdirSync(join(folder, 'data'), { recursive: true, mode: 0o700 })
  mkdirSync(join(folder, 'tmp'), { recursive: true })
}

/**
 * The shared libraries of an executable of this machine, by the paths where the loader looks for
 * them.
 */
function librariesOf(binary: string): string[] {
  const listed = execFileSync('ldd', [binary], { encoding: 'utf8' })
  const paths = [...listed.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = '']) => path)
  const folder = dirname(paths.find((path) => basename(path) === 'libc.so.6') ?? '/lib')
  const looked = lookupLibraries
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
  return [...new Set([...paths, ...looked])].sort()
}

interface Blob {
  readonly digest: string
  readonly bytes: Buffer
}

const blobOf = (bytes: Buffer): Blob => ({
  digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
  bytes,
})
const jsonBlob = (value: unknown) => blobOf(Buffer.from(JSON.stringify(value)))

/** The data directory names the port, whatever flags the server has. */
const healthCommand = ['CMD', `/${executablePath}`, 'health', '--data-dir=/data']

/** Writes the image of a root file system. Gives its path. */
export function makeImage(folder: string, version: string, target: string, to: string): string {
  const layer = layerOf(folder)
  const compressed = blobOf(gzipSync(layer, { level: 6 }))
  const architecture = target.endsWith('arm64') ? 'arm64' : 'amd64'
  const config = jsonBlob({
    architecture,
    os: 'linux',
    created: '1970-01-01T00:00:00Z',
    config: {
      User: `${userId}:${userId}`,
      ExposedPorts: { '6443/tcp': {} },
      Volumes: { '/data': {} },
      WorkingDir: '/data',
      Entrypoint: [`/${executablePath}`],
      Cmd: defaultFlags,
      Env: ['HOME=/data'],
      Healthcheck: { Test: healthCommand, Interval: 10e9, Timeout: 6e9 },
      Labels: {
        'org.opencontainers.image.title': 'binnacle',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      },
    },
    rootfs: { type: 'layers', diff_ids: [blobOf(layer).digest] },
    history: [{ created_by: 'npm run image' }],
  })
  const described = (mediaType: string, { digest, bytes }: Blob) => ({
    mediaType: `application/vnd.oci.image.${mediaType}`,
    digest,
    size: bytes.length,
  })
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: described('config.v1+json', config),
    layers: [described('layer.v1.tar+gzip', compressed)],
  })
  const tag = `binnacle:${version}`
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...described('manifest.v1+json', manifest),
        platform: { architecture, os: 'linux' },
        annotations: {
          'org.opencontainers.image.ref.name': version,
          'io.containerd.image.name': tag,
        },
      },
    ],
  }
  const blobPath = ({ digest }: Blob) => `blobs/${digest.replace(':', '/')}`
  // Engines of Docker before version 25 read this file instead of index.json.
  const older = [{ Config: blobPath(config), RepoTags: [tag], Layers: [blobPath(compressed)] }]
  const json = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`)
  const files: [string, Buffer][] = [
    ...[config, compressed, manifest].map((blob): [string, Buffer] => [blobPath(blob), blob.bytes]),
    ['index.json', json(index)],
    ['manifest.json', json(older)],
    ['oci-layout', json({ imageLayoutVersion: '1.0.0' })],
  ]
  const path = join(to, `${binaryName(version, target)}.oci.tar`)
  mkdirSync(to, { recursive: true })
  writeFileSync(
    path,
    archiveOf(files.map(([name, bytes]) => [plainEntry(name, bytes.length), bytes])),
  )
  return path
}

const plainEntry = (name: string, sizeBytes: number, mode = 0o644): TarEntry => ({
  name,
  sizeBytes,
  mode,
  // The same files give the same image.
  modifiedSeconds: 0,
})

function archiveOf(entries: readonly (readonly [TarEntry, Buffer])[]): Buffer {
  const parts = entries.flatMap(([entry, bytes]) => [
    tarHeader(entry),
    bytes,
    Buffer.alloc(tarPaddingBytes(bytes.length)),
  ])
  return Buffer.concat([...parts, Buffer.alloc(1024)])
}

/** The files of a folder as a layer; /data belongs to the user of the image. */
function layerOf(folder: string): Buffer {
  const names = readdirSync(folder, { recursive: true }).map(String).sort()
  const entries = names.map((name): [TarEntry, Buffer] => {
    const path = join(folder, name)
    const stats = statSync(path)
    if (!stats.isDirectory())
      return [plainEntry(name, stats.size, stats.mode & 0o777), readFileSync(path)]
    const mode = name === 'tmp' ? 0o1777 : name === 'data' ? 0o700 : 0o755
    const owner = name === 'data' ? { ownerId: userId } : {}
    return [{ ...plainEntry(name, 0, mode), isFolder: true, ...owner }, Buffer.alloc(0)]
  })
  return archiveOf(entries)
}

if (import.meta.main) {
  const options = { root: { type: 'string' }, binary: { type: 'string' } } as const
  const { root: folder, binary } = parseArgs({ options }).values
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const executable = binary ?? (await makeBinary(hostTarget, join(root, 'dist')))
  if (folder !== undefined) makeRoot(executable, folder)
  else {
    const work = mkdtempSync(join(tmpdir(), 'binnacle-image-'))
    makeRoot(executable, work)
    const path = makeImage(work, version, hostTarget, join(root, 'dist'))
    rmSync(work, { recursive: true })
    process.stdout.write(`${path} (${(statSync(path).size / 1e6).toFixed(0)} MB)\n`)
  }
}
