/** The entry point `binnacle` for `require`. */
'use strict'

require('./prepare.cjs')
module.exports = { createServer: require('../bundle/server.cjs').serverEntry().createServer }
