import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import type { Examined, Finding, HealthCheck } from '../../ports/system/health-check.ts'

/** The longest that one check may take: a server that never answers must not keep the others from being made. */
const CHECK_MS = 60_000

/** Replaces what nobody may read. */
export type HideText = (text: string) => string

/** Makes every check, one after the other. A check that breaks is a finding, and the next one is made all the same. */
export const examine = async (checks: readonly HealthCheck[], hide: HideText): Promise<readonly Examined[]> => {
  const examined: Examined[] = []
  for (const { name, run } of checks)
    for (const finding of await guarded(run)) examined.push({ check: name, ...hidden(finding, hide) })
  return examined
}

const guarded = async (run: HealthCheck['run']): Promise<readonly Finding[]> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<readonly Finding[]>((resolve) => {
    timer = setTimeout(() => resolve([notMade(`it took longer than ${CHECK_MS / 1_000} s`)]), CHECK_MS)
  })
  try {
    return await Promise.race([run(), late])
  } catch (error) {
    return [notMade(describeThrown(error))]
  } finally {
    clearTimeout(timer)
  }
}

const notMade = (why: string): Finding => ({ result: 'problem', text: `This could not be looked at: ${why}` })

const hidden = ({ text, repair, statements, ...finding }: Finding, hide: HideText): Finding => ({
  ...finding,
  text: hide(text),
  ...(repair !== undefined && { repair: hide(repair) }),
  ...(statements !== undefined && { statements: statements.map(hide) }),
})
