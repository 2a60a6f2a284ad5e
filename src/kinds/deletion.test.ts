import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { releaseOf } from '#api/releases/change.ts'
import {
  answersDeletedObject,
  answersStatusWhenHeld,
  defaultPropagation,
  unspecifiedPropagationWarnings,
} from './deletion.ts'
import { loadFacts } from './facts.ts'
import type { Kind } from './kind.ts'

const facts = loadFacts((name) =>
  readFileSync(new URL(`../../facts/${name}`, import.meta.url), 'utf8'),
)

const kindOf = (apiVersion: string, group: string, plural: string): Kind =>
  ({ apiVersion, resource: { group, plural } }) as unknown as Kind

const cases: [kind: Kind, answers: 'object' | 'status', held: 'object' | 'status', left: string][] =
  [
    [kindOf('v1', '', 'pods'), 'object', 'object', 'Background'],
    [kindOf('v1', '', 'services'), 'status', 'status', 'Background'],
    [kindOf('v1', '', 'configmaps'), 'status', 'object', 'Background'],
    [kindOf('v1', '', 'events'), 'status', 'object', 'Unsupported'],
    [kindOf('events.k8s.io/v1', 'events.k8s.io', 'events'), 'status', 'object', 'Unsupported'],
    [kindOf('batch/v1', 'batch', 'jobs'), 'status', 'object', 'Orphan'],
    [kindOf('batch/v1', 'batch', 'cronjobs'), 'status', 'object', 'Background'],
    [kindOf('batch/v1beta1', 'batch', 'cronjobs'), 'status', 'object', 'Orphan'],
    [kindOf('apps/v1', 'apps', 'deployments'), 'status', 'object', 'Background'],
    [kindOf('apps/v1beta1', 'apps', 'deployments'), 'status', 'object', 'Orphan'],
    [kindOf('extensions/v1beta1', 'apps', 'daemonsets'), 'status', 'object', 'Orphan'],
    [kindOf('example.com/v1', 'example.com', 'pods'), 'status', 'object', 'Background'],
  ]

for (const [kind, answers, held, left] of cases) {
  test(`deleting ${kind.resource.plural} of ${kind.apiVersion}`, () => {
    assert.equal(answersDeletedObject(kind, releaseOf(22)) ? 'object' : 'status', answers)
    assert.equal(answersStatusWhenHeld(kind, releaseOf(22)) ? 'status' : 'object', held)
    assert.equal(defaultPropagation(kind), left)
  })
}

const answerCases: [kind: Kind, minor: number, answers: boolean][] = [
  [kindOf('v1', '', 'services'), 22, false],
  [kindOf('v1', '', 'services'), 23, true],
  [kindOf('resource.k8s.io/v1', 'resource.k8s.io', 'resourceclaims'), 37, true],
  [kindOf('resource.k8s.io/v1beta2', 'resource.k8s.io', 'devicetaintrules'), 36, true],
  [kindOf('resource.k8s.io/v1beta2', 'resource.k8s.io', 'devicetaintrules'), 37, true],
  [kindOf('resource.k8s.io/v1alpha3', 'resource.k8s.io', 'devicetaintrules'), 37, true],
  [kindOf('resource.k8s.io/v1', 'resource.k8s.io', 'devicetaintrules'), 37, false],
]
for (const [kind, minor, answers] of answerCases) {
  test(`deleting ${kind.resource.plural} of ${kind.apiVersion} in 1.${minor}`, () => {
    assert.equal(answersDeletedObject(kind, releaseOf(minor)), answers)
    const isHeldStatus = kind.resource.plural === 'services' && !answers
    assert.equal(answersStatusWhenHeld(kind, releaseOf(minor)), isHeldStatus)
  })
}

for (const minor of facts.releases) {
  test(`the tables and the facts of 1.${minor} agree about the answer to a deletion`, () => {
    for (const { group, version, plural, storage, returnsDeleted } of facts.resourcesOf(minor)) {
      if (storage === undefined) continue
      const apiVersion = group === '' ? version : `${group}/${version}`
      const kind = kindOf(apiVersion, storage.group, plural)
      const answers = answersDeletedObject(kind, releaseOf(minor))
      assert.equal(answers, returnsDeleted, `${apiVersion} ${plural}`)
    }
  })
}

const warningCases: [kind: Kind, minor: number, warnings: number][] = [
  [kindOf('batch/v1', 'batch', 'jobs'), 22, 0],
  [kindOf('batch/v1', 'batch', 'jobs'), 23, 1],
  [kindOf('batch/v1beta1', 'batch', 'cronjobs'), 23, 0],
]
for (const [kind, minor, warnings] of warningCases) {
  test(`warnings of 1.${minor} for deleting ${kind.resource.plural} without a policy`, () => {
    assert.equal(unspecifiedPropagationWarnings(kind, releaseOf(minor)).length, warnings)
  })
}
