/** The entry point `binnacle` for `require`. */
'use strict'

require('./node-version.cjs')
module.exports = { createServer: require('../bundle/server.cjs').serverEntry().createServer }
