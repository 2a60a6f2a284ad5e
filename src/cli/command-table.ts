/**
 * The commands besides `start`: names, options and actions. This file contains only data.
 * command.ts parses the command line, and run-command.ts runs the command.
 */
import type { Settings } from '#settings/flags.ts'

export interface OptionRow {
  /** The placeholder in the help: `--user NAME`. Empty for options without a value. */
  readonly word: string
  readonly meaning: string
  /** Whether the option may be repeated. */
  readonly repeats?: boolean
  readonly required?: boolean
  /** A one-letter alias: `-f`. */
  readonly letter?: string
}

export interface CommandRow {
  readonly summary: string
  /** Placeholders of the required arguments: `FILE`. */
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, OptionRow>>
  /** The stores that the command supports; all if undefined. */
  readonly backends?: readonly Settings['storageBackend'][]
}

const durable = ['sqlite', 'etcd3'] as const

export const commandTable = {
  kubeconfig: {
    summary: 'print a kubeconfig with a new client certificate',
    words: [],
    options: {
      user: { word: 'NAME', meaning: 'The user name in the certificate.', required: true },
      group: { word: 'NAME', meaning: 'A group of the user.', repeats: true },
      expires: { word: 'TIME', meaning: 'How long it is valid: 12h, 30d. 365d when unset.' },
      server: {
        word: 'URL',
        meaning: 'The URL for clients. When unset, where the server of --data-dir listens.',
      },
      output: { word: 'FILE', meaning: 'Write this file (mode 0600) instead of printing.' },
    },
  },
  backup: {
    summary: 'write the state and its keys to an archive',
    words: ['FILE'],
    options: {},
    backends: durable,
  },
  restore: {
    summary: 'restore an archive into an empty store',
    words: ['FILE'],
    options: {},
    backends: durable,
  },
  verify: {
    summary: 'read the whole store and report damage',
    words: [],
    options: {},
    backends: durable,
  },
  doctor: {
    summary: 'check certificates, clock, disk and deprecated APIs',
    words: [],
    options: {},
  },
  health: {
    summary: 'print ok if the server of --data-dir is ready',
    words: [],
    options: {},
  },
  migrate: {
    summary: 'copy the state to the other store',
    words: [],
    options: {
      from: { word: 'STORE', meaning: 'sqlite or etcd3.', required: true },
      to: { word: 'STORE', meaning: 'etcd3 or sqlite.', required: true },
    },
  },
  check: {
    summary: 'report what the release drops from manifests',
    words: [],
    options: {
      filename: {
        word: 'PATH',
        letter: 'f',
        meaning: 'A file, or a directory that is read with its subdirectories.',
        repeats: true,
        required: true,
      },
    },
  },
  'test-server': {
    summary: 'run clusters for tests, controlled over HTTP',
    words: [],
    options: {
      seed: { word: 'NUMBER', meaning: 'Makes uids, names and times the same in every run.' },
      'exit-with': { word: 'stdin', meaning: 'End when standard input ends.' },
    },
  },
} as const satisfies Record<string, CommandRow>

export type CommandName = keyof typeof commandTable
