import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Finding } from '../../ports/system/health-check.ts'
import { isRecord, jsonIn, readSmallFile } from './small-file.ts'

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
