import { writeSync } from 'node:fs'
import { DOCUMENT_WAITS } from '../../domain/handoff/document-notice.ts'
import { isRecord } from '../../domain/kernel/record.ts'
import type { TerminalAgent } from '../../ports/agent/vendor.ts'
import { codeOf } from '../files/own-files.ts'
import { workspaceOf } from '../place/workspace.ts'
import type { Budget } from './budget.ts'
import { countOf, type HookCard, readCard } from './hook-card.ts'
import type { HookLog } from './hook-log.ts'
import { levelFor, readStatus } from './hook-window.ts'
import { joined, previousStatusLine } from './previous-line.ts'
import type { RawInput } from './read-input.ts'
import type { ServiceClient } from './service-client.ts'
import { type StatusLook, statusLine } from './status-line.ts'
import { trimmedPayload } from './trimmed-payload.ts'
import { readPending } from './waiting-document.ts'

/** Everything that drawing a line needs. */
export interface Drawing {
  readonly input: RawInput
  /** The same as it came, for the person's own status line. */
  readonly text: Buffer
  readonly session: string | undefined
  readonly folder: string
  readonly service: ServiceClient
  readonly log: HookLog
  readonly budget: Budget
  readonly flags: Readonly<Record<string, string | undefined>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly agent: TerminalAgent
}

const USUAL_COLUMNS = 80
/** The columns of a terminal that Claude Code keeps for itself beside a status line; it cuts what is longer. */
const MARGIN = 4

/** Draws the status line, and passes the sample on to the service when it says something. */
export const drawLine = async (drawing: Drawing): Promise<void> => {
  const { input, session, service, flags, budget } = drawing
  const read = readStatus(input)
  const theirs = flags.then === undefined ? undefined : previousLine(drawing)
  const isSample = session !== undefined && read.reading.state !== 'unknown'
  const posting = isSample
    ? service.deliver('statusline', session, { payload: trimmedPayload('statusline', input) }, budget.forSample)
    : undefined
  const card = cardOf(drawing)
  const look = lookOf(drawing)
  const level = levelFor(read, card, { variables: drawing.environment, window: drawing.agent.window })
  const ours = statusLine({ level, read, costUsd: costOf(input, card), card, mark: waitingMark(drawing) }, look)
  const lines = theirs === undefined ? ours : (await theirs)(ours, look.width)
  writeSync(1, `${lines}\n`)
  await posting
}

const previousLine = async ({ flags, text, budget, log, environment }: Drawing) => {
  const theirs = await previousStatusLine({ command: flags.then ?? '', text, budget, log, environment })
  return (ours: string, width: number): string => joined(theirs, ours, width)
}

const cardOf = ({ session, folder, log }: Drawing): HookCard | undefined => {
  try {
    return session === undefined ? undefined : readCard(folder, session)
  } catch (problem) {
    log.tell(`the card of the session could not be read: ${codeOf(problem)}`)
    return undefined
  }
}

/** A document may be taken or withdrawn by others, so the file itself says whether it waits. */
const waitingMark = ({ input: { cwd }, folder, session }: Drawing): string | undefined => {
  try {
    const workspace = session === undefined || typeof cwd !== 'string' ? undefined : workspaceOf(cwd)
    return workspace !== undefined && readPending(folder, workspace) !== undefined ? DOCUMENT_WAITS : undefined
  } catch {
    return undefined
  }
}

/** The runtime knows what this window has cost, the service what those before it have; the larger one has counted more. */
const costOf = ({ cost }: RawInput, card: HookCard | undefined): number | undefined => {
  const ofRuntime = isRecord(cost) ? countOf(cost.total_cost_usd) : undefined
  if (ofRuntime === undefined || card?.costUsd === undefined) return ofRuntime ?? card?.costUsd
  return Math.max(ofRuntime, card.costUsd)
}

const lookOf = ({ flags, environment }: Drawing): StatusLook => {
  const { NO_COLOR = '', TERM = '', COLUMNS = '' } = environment
  const isDumb = TERM === 'dumb' || TERM === 'linux'
  return {
    width: widthFrom(flags.width) ?? Math.max(1, (widthFrom(COLUMNS) ?? USUAL_COLUMNS) - MARGIN),
    isColoured: flags['no-color'] === undefined && NO_COLOR === '' && TERM !== 'dumb',
    hasBlocks: !isDumb && hasNarrowBlocks(environment),
  }
}

const widthFrom = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9]\d{0,4}$/.test(text) ? Number(text) : undefined

/** Blocks take two columns in terminals of Chinese, Japanese and Korean, and none is sure to be drawn outside of UTF-8. */
const hasNarrowBlocks = ({ LC_ALL, LC_CTYPE, LANG }: Drawing['environment']): boolean => {
  const locale = LC_ALL || LC_CTYPE || LANG || ''
  return /utf-?8$/i.test(locale) && !/^(?:zh|ja|ko)/i.test(locale)
}
