import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '../../ports/system/health-check.ts'
import { quoted } from '../../processes/quoted.ts'
import { type AskHealth, findService, placeOf } from './service-state.ts'

/** Whether the service runs, and is the one of this program. */
export const serviceRuns = async (folder: string, program: string, ask: AskHealth): Promise<readonly Finding[]> => [
  ...(await running(folder, program, ask)),
  ...tokenRights(folder),
]

const running = async (folder: string, program: string, ask: AskHealth): Promise<readonly Finding[]> => {
  const file = join(folder, 'service.json')
  const found = await findService(folder, ask)
  switch (found.state) {
    case 'none':
      return [{ result: 'ok', text: 'none runs; the hooks start one when they need it' }]
    case 'runs': {
      const text = `process ${found.pid} answers on ${placeOf(found)}`
      if (found.program === undefined || found.program === program) return [{ result: 'ok', text }]
      const repair = `End it, and the hooks start the new one: kill ${found.pid}`
      return [{ result: 'warning', text: `${text}, and is Batonpass ${found.program}, not ${program}`, repair }]
    }
    case 'gone': {
      const text = `process ${found.pid} has ended and left ${file}; the next service replaces it`
      return [{ result: 'warning', text, repair: `Run "baton serve", or: rm ${quoted(file)}` }]
    }
    case 'silent': {
      const text = `process ${found.pid} is there and does not answer on ${placeOf(found)}`
      return [{ result: 'problem', text, repair: `Look at service.log in ${folder}; if it hangs: kill ${found.pid}` }]
    }
    case 'older': {
      const text = `process ${found.pid} may be a service of Batonpass ${found.program ?? 'of an older version'}, which is not asked: it cannot prove that it is the one`
      return [{ result: 'warning', text, repair: `End it, and the hooks start the new one: kill ${found.pid}` }]
    }
    case 'unreadable': {
      const text = `${file} is of no use: ${found.why}`
      return [{ result: 'warning', text, repair: `rm ${quoted(file)}` }]
    }
    default:
      return found satisfies never
  }
}

/** Whoever reads the token of the service may speak for every session. */
const tokenRights = (folder: string): readonly Finding[] => {
  const path = join(folder, 'service.token')
  const found = lstatSync(path, { throwIfNoEntry: false })
  const me = process.getuid?.()
  if (found === undefined || me === undefined) return []
  if (found.uid !== me)
    return [
      {
        result: 'problem',
        text: `${path} belongs to another user (uid ${found.uid})`,
        repair: `Remove it, and a new one is made: rm ${quoted(path)}`,
      },
    ]
  if ((found.mode & 0o077) === 0) return []
  const text = `${path} is open to other users (mode ${(found.mode & 0o777).toString(8)})`
  return [{ result: 'problem', text, repair: `Others may have read it. End the service, and: rm ${quoted(path)}` }]
}
