import { serve } from '../src/main/serve.ts'

/** The service that is measured, on the embedded store of a folder. */
const [folder = ''] = process.argv.slice(2)
const { socket } = await serve({ folder, dataDir: folder })
process.send?.({ socket })
// What it has used so far, for whoever asks: on a busy machine, times say more about the others.
process.on('message', () => process.send?.(process.cpuUsage()))
