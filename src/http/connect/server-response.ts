/** Converts a rejection by another server to the standard message for its status. */
import { ApiError } from '#api/status-error.ts'

const known: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  409: ['Conflict', 'the server reported a conflict'],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: [
    'TooManyRequests',
    'the server has received too many requests and has asked us to try again later',
  ],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: [
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request',
  ],
}

export function serverResponse(
  status: number,
  resource: string,
  name: string,
  text: string,
): ApiError {
  const [reason, message] = stated(status, text)
  return new ApiError(status, reason, `${message} ( ${resource} ${name})`, { name, kind: resource })
}

function stated(status: number, text: string): readonly [string, string] {
  // These messages already name the user and the action, or the accepted types.
  if (status === 403) return ['Forbidden', text]
  if (status === 406) return ['NotAcceptable', text]
  const words = known[status]
  if (words !== undefined) return words
  if (status >= 500) {
    return [
      'InternalError',
      `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`,
    ]
  }
  return [
    '',
    `the server responded with the status code ${status} but did not return more information`,
  ]
}
