import { serve } from '../../src/main/serve.ts'

/** A service on the embedded store of a folder, for tests that kill it. */
const [folder = ''] = process.argv.slice(2)
const service = await serve({ folder, dataDir: folder, port: 0 })
process.stdout.write(`${JSON.stringify({ port: service.port })}\n`)
