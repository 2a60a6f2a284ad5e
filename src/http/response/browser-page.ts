/**
 * The page for browsers that open the server's port without credentials. It is static and contains
 * no data of the server. API clients never get it: they send credentials or do not accept
 * text/html.
 */
import type { AnswerHeaders, Wire } from '#http/exchange.ts'

/**
 * Whether a browser without credentials requests `/`. Any client certificate counts as credentials.
 */
export function isBrowserVisit(wire: Wire): boolean {
  const { method, url, headers } = wire
  if (url !== '/' || (method !== 'GET' && method !== 'HEAD')) return false
  const { accept, authorization } = headers
  if (typeof accept !== 'string' || authorization !== undefined) return false
  return accept.includes('text/html') && wire.clientCertificate() === undefined
}

export const pageHeaders: AnswerHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'x-content-type-options': 'nosniff',
}

export const pageBody = Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Binnacle</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }
  pre { background: #eee; color: #222; padding: .8rem; overflow: auto }
</style>
<h1>Binnacle</h1>
<p>This is a Kubernetes API server. It serves kubectl, client libraries and controllers.
It shows nothing to a browser without credentials.</p>
<h2>Connect</h2>
<p>The server wrote a kubeconfig into its data directory and printed its path when it started:</p>
<pre>export KUBECONFIG=binnacle-data/admin.kubeconfig
kubectl get namespaces</pre>
<p>Your browser does not know the certificate authority of this server. kubectl does: the kubeconfig contains it.</p>
<h2>Read on</h2>
<p><code>binnacle --help</code> lists the flags. The folder <code>docs</code> of the package contains the documentation.
Health is at <a href="/livez">/livez</a> and <a href="/readyz">/readyz</a>.</p>
</html>
`)
