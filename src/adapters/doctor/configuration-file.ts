import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError } from '../../domain/run/configuration.ts'
import type { Finding } from '../../ports/system/health-check.ts'
import { quoted } from '../../processes/quoted.ts'

/** Where a configuration is looked for when none is named. */
const CONFIGURATION_FILES = ['batonpass.yaml', 'batonpass.yml', 'batonpass.json'] as const

/** The most problems of one file that are listed. */
const MOST_PROBLEMS = 5

/** Whether the configuration of the working folder can be used. */
export const configurationFile = async (
  workingFolder: string,
  read: (file: string) => Promise<{ readonly remarks: readonly string[] }>,
): Promise<readonly Finding[]> => {
  const there = CONFIGURATION_FILES.filter((file) => existsSync(join(workingFolder, file)))
  const [file] = there
  if (file === undefined) return [{ result: 'ok', text: 'no file in the working folder; everything has its default' }]
  if (there.length > 1)
    return [{ result: 'problem', text: `there are ${there.join(' and ')} here`, repair: 'Keep one of them.' }]
  try {
    const { remarks } = await read(join(workingFolder, file))
    const notes = remarks.map((text): Finding => ({ result: 'warning', text: `${file}: ${text}` }))
    return [{ result: 'ok', text: `${file} can be used` }, ...notes]
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    const listed = error.problems.slice(0, MOST_PROBLEMS).map(({ path, problem, advice, line }): Finding => {
      const place = `${file}${line === undefined ? '' : `:${line}`}`
      return { result: 'problem', text: `${place}: ${path === '' ? '' : `${path}: `}${problem}`, repair: advice }
    })
    const more = error.problems.length - listed.length
    const repair = `Run "baton config check ${quoted(file)}".`
    return more > 0 ? [...listed, { result: 'problem', text: `${file} has ${more} more problems`, repair }] : listed
  }
}
