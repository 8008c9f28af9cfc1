import { mkdirSync, rmdirSync, statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { ok } from '../../domain/kernel/result.ts'
import { type FileEdit, isChange, type PlannedChange } from './file-edit.ts'
import type { Receipts } from './receipts.ts'
import { refuse, type Settled } from './refusal.ts'
import { replaceFile } from './settings-file.ts'

/** Thinks a change of one file through. */
export type Plan = (edit: FileEdit, receipts: Receipts) => Settled<PlannedChange>

const TRIES = 5
const LOCK_TRIES = 50
const LOCK_PAUSE_MS = 100
/** A lock that nobody has touched for so long belongs to nobody: those who use it touch it every few seconds. */
const DEAD_LOCK_MS = 60_000

/** Thinks every change through. If one is refused, all are. */
export const planAll = (
  edits: readonly FileEdit[],
  plan: Plan,
  receipts: Receipts,
): Settled<readonly PlannedChange[]> => {
  const plans: PlannedChange[] = []
  for (const edit of edits) {
    const planned = plan(edit, receipts)
    if (!planned.ok) return planned
    plans.push(planned.value)
  }
  return ok(plans)
}

/** Makes every change. If one cannot be made, those before it are undone. */
export const carryOutAll = async (
  edits: readonly FileEdit[],
  plan: Plan,
  receipts: Receipts,
): Promise<Settled<readonly PlannedChange[]>> => {
  const planned = planAll(edits, plan, receipts)
  if (!planned.ok) return planned
  const made: PlannedChange[] = []
  for (const edit of edits) {
    const done = await underLock(edit, () => carryOut(edit, plan, receipts))
    if (!done.ok) {
      for (const change of made.toReversed()) undo(change, receipts)
      return done
    }
    made.push(done.value)
  }
  return ok(made)
}

/** Makes one change. If somebody wrote to the file in between, it is thought through anew. */
const carryOut = (edit: FileEdit, plan: Plan, receipts: Receipts): Settled<PlannedChange> => {
  for (let tries = 1; ; tries += 1) {
    const planned = plan(edit, receipts)
    if (!planned.ok) return planned
    const written = write(planned.value, receipts)
    if (written.ok || written.error.code !== 'settings.changed_meanwhile' || tries === TRIES)
      return written.ok ? planned : written
  }
}

const write = (change: PlannedChange, receipts: Receipts): Settled<undefined> => {
  const { file, after, receipt } = change
  // Before the file: a note about a change that was not made does no harm.
  if (receipt !== undefined) receipts.keep(receipt)
  if (isChange(change)) {
    const replaced = replaceFile(file, after === undefined ? undefined : Buffer.from(after))
    if (!replaced.ok) return replaced
    if (receipt !== undefined && replaced.value.length > 0)
      receipts.keep({ ...receipt, folders: [...replaced.value, ...receipt.folders] })
  }
  return ok(undefined)
}

const undo = (change: PlannedChange, receipts: Receipts): void => {
  const { file, before, after, receipt, earlier } = change
  const bytes = after === undefined ? undefined : Buffer.from(after)
  const isRestored =
    !isChange(change) || replaceFile({ ...file, bytes }, before === undefined ? undefined : Buffer.from(before)).ok
  if (!isRestored || receipt === undefined) return
  if (earlier === undefined) receipts.forget([file.target])
  else receipts.keep(earlier)
}

const underLock = async (
  { path, isLive }: FileEdit,
  work: () => Settled<PlannedChange>,
): Promise<Settled<PlannedChange>> => {
  if (isLive !== true) return work()
  const lock = `${path}.lock`
  if (!(await taken(lock)))
    return refuse(path, {
      code: 'settings.changed_meanwhile',
      problem:
        'is in use by the runtime: close its sessions and run this again, or leave the MCP server out with --no-mcp',
    })
  try {
    return work()
  } finally {
    rmdirSync(lock)
  }
}

/** Takes the lock that Claude Code itself takes: a folder beside the file. */
const taken = async (lock: string): Promise<boolean> => {
  for (let tries = 0; tries < LOCK_TRIES; tries += 1) {
    try {
      mkdirSync(lock)
      return true
    } catch (problem) {
      const { code } = problem as NodeJS.ErrnoException
      if (code !== 'EEXIST') throw problem
      const stat = statSync(lock, { throwIfNoEntry: false })
      if (stat !== undefined && Date.now() - stat.mtimeMs > DEAD_LOCK_MS) rmdirSync(lock)
      else await pause(LOCK_PAUSE_MS)
    }
  }
  return false
}
