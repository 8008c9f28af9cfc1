import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRecord } from '../../domain/kernel/record.ts'
import { ConfigurationError } from '../../domain/run/run-configuration.ts'
import type { Finding } from '../../ports/system/health-check.ts'
import { quoted } from '../../processes/quoted.ts'
import { filesIn } from './folder-files.ts'
import { jsonIn, readSmallFile } from './small-file.ts'

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

/** Younger than this, somebody may be at work on it. */
const OLD_MS = 10 * 60_000

/** Names that only pass, unless the process that made them was killed. */
const PASSING = /^(data\.new|rights-.*|lock\.new-.*|lock\.after-.*|pulse-.*|\.batonpass-(lock|new)-.*|.*\.tmp(-.*)?)$/

/** Names the files that killed processes have left in a folder. They do no harm, and take room. */
export const leftovers = async (folder: string, now = Date.now()): Promise<readonly Finding[]> => {
  const lock = readSmallFile(join(folder, 'lock'))
  const holder = lock.state === 'read' ? jsonIn(lock.text) : undefined
  const pulse = isRecord(holder) ? holder.pulse : undefined
  const left = filesIn(folder, (name) => PASSING.test(name) && name !== pulse).filter(
    ({ changedAt }) => now - changedAt > OLD_MS,
  )
  if (left.length === 0) return [{ result: 'ok', text: `killed processes have left nothing in ${folder}` }]
  return [
    {
      result: 'warning',
      text: `killed processes have left ${left.map(({ name }) => name).join(', ')} in ${folder}`,
      repair: `While nobody has the store open: rm -r ${left.map(({ path }) => quoted(path)).join(' ')}`,
    },
  ]
}

/** Whether this Node is one that the package is made for. */
export const nodeVersion = async (
  running = process.versions.node,
  needed = neededNode(),
): Promise<readonly Finding[]> => {
  const [, least] = /^>=\s*([\d.]+)$/.exec(needed ?? '') ?? []
  if (least === undefined) return [{ result: 'ok', text: `${running}; the package does not say what it needs` }]
  if (isAtLeast(running, least)) return [{ result: 'ok', text: `${running}; it needs ${least} or newer` }]
  return [{ result: 'problem', text: `${running} is too old`, repair: `Install Node ${least} or newer.` }]
}

const isAtLeast = (running: string, least: string): boolean => {
  const [has, needs] = [running, least].map((version) => version.split('.').map(Number))
  for (const [at, part] of (needs ?? []).entries()) {
    const own = has?.[at] ?? 0
    if (own !== part) return own > part
  }
  return true
}

/** The `engines` of the package that this file belongs to. */
const neededNode = (): string | undefined => {
  const found = readSmallFile(join(fileURLToPath(new URL('../../../', import.meta.url)), 'package.json'))
  const json = found.state === 'read' ? jsonIn(found.text) : undefined
  const engines = isRecord(json) ? json.engines : undefined
  return isRecord(engines) && typeof engines.node === 'string' ? engines.node : undefined
}
