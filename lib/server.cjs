/** The entry point `binnacle` for `require`. */
'use strict'

module.exports = { createServer: require('../bundle/server.cjs').serverEntry().createServer }
