import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invalid, required } from './field-error.ts'
import {
  type ApiError,
  alreadyExists,
  badRequest,
  conflict,
  expired,
  forbiddenRequest,
  internalError,
  invalidObject,
  methodNotSupported,
  notFound,
  generatedNameTaken,
  serverTimeout,
  tooManyRequests,
} from './status-error.ts'

const noUniqueName = 'the server was not able to generate a unique name for the object'

const pods = { group: '', plural: 'pods' }
const deployments = { group: 'apps', plural: 'deployments' }
const named = (name: string, kind: string, group?: string) => ({
  name,
  ...(group !== undefined && { group }),
  kind,
})

const cases: [error: ApiError, code: number, reason: string, message: string, details?: object][] =
  [
    [notFound(pods, 'a'), 404, 'NotFound', 'pods "a" not found', named('a', 'pods')],
    [
      notFound(deployments, 'a'),
      404,
      'NotFound',
      'deployments.apps "a" not found',
      named('a', 'deployments', 'apps'),
    ],
    [
      alreadyExists(deployments, 'a'),
      409,
      'AlreadyExists',
      'deployments.apps "a" already exists',
      named('a', 'deployments', 'apps'),
    ],
    [
      conflict(pods, 'a', 'why'),
      409,
      'Conflict',
      'Operation cannot be fulfilled on pods "a": why',
      named('a', 'pods'),
    ],
    [
      forbiddenRequest(pods, '', 'why'),
      403,
      'Forbidden',
      'pods is forbidden: why',
      { kind: 'pods' },
    ],
    [badRequest('why'), 400, 'BadRequest', 'why'],
    [expired('why'), 410, 'Expired', 'why'],
    [
      methodNotSupported(deployments, 'watch'),
      405,
      'MethodNotAllowed',
      'watch is not supported on resources of kind "deployments.apps"',
      { group: 'apps', kind: 'deployments' },
    ],
    [
      generatedNameTaken({ group: 'apps', plural: 'deployments' }, 'a'),
      409,
      'AlreadyExists',
      `deployments.apps "a" already exists, ${noUniqueName}`,
      { group: 'apps', kind: 'deployments', name: 'a', retryAfterSeconds: 1 },
    ],
    [tooManyRequests('why', 3), 429, 'TooManyRequests', 'why', { retryAfterSeconds: 3 }],
    [
      serverTimeout({ group: 'apps', plural: 'Deployment' }, 'POST', 0),
      500,
      'ServerTimeout',
      'The POST operation against Deployment.apps could not be completed at this time, please try again.',
      { group: 'apps', kind: 'Deployment', name: 'POST' },
    ],
    [
      internalError('why'),
      500,
      'InternalError',
      'Internal error occurred: why',
      { causes: [{ message: 'why' }] },
    ],
  ]
for (const [error, code, reason, message, details] of cases) {
  test(`${code} ${message}`, () => {
    assert.deepEqual(error.status(), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      ...(details !== undefined && { details }),
      code,
    })
  })
}

test('all errors of an object in one response', () => {
  const one = invalidObject({ group: 'apps', kind: 'Deployment' }, 'd', [required('spec.selector')])
  assert.equal(one.message, 'Deployment.apps "d" is invalid: spec.selector: Required value')
  const two = invalidObject({ group: '', kind: 'Pod' }, 'p', [
    required('spec.containers'),
    invalid('spec.x', 1, 'no'),
  ])
  assert.equal(
    two.message,
    'Pod "p" is invalid: [spec.containers: Required value, spec.x: Invalid value: 1: no]',
  )
  assert.deepEqual(two.details, {
    name: 'p',
    kind: 'Pod',
    causes: [
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers' },
      { reason: 'FieldValueInvalid', message: 'Invalid value: 1: no', field: 'spec.x' },
    ],
  })
})
