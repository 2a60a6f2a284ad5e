/** The entry point `binnacle/testing` for `require`, which Jest uses. */
'use strict'

require('./prepare.cjs')
const { startCluster, forkPerTest, explore } = require('../bundle/server.cjs').testingEntry()
module.exports = { startCluster, forkPerTest, explore }
