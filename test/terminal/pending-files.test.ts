import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pendingFiles } from '../../src/adapters/terminal/pending-files.ts'
import type { PendingFiles } from '../../src/ports/terminal/pending-files.ts'
import type { PendingDocument } from '../../src/ports/terminal/wire.ts'
import { MemoryPendingFiles } from './memory-pending-files.ts'
import { type FilesUnderTest, PENDING_FILES_CASES } from './pending-files-contract.ts'

const inFolder = async (): Promise<FilesUnderTest> => {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'workspace-')))
  const folder = mkdtempSync(join(tmpdir(), 'pending-'))
  onTestFinished(() => {
    for (const each of [workspace, folder]) rmSync(each, { recursive: true, force: true, maxRetries: 10 })
  })
  return { files: await pendingFiles(folder, ['claude']), workspace, missing: join(workspace, 'gone') }
}

const inMemory = (Files: new (folders: readonly string[]) => PendingFiles = MemoryPendingFiles): FilesUnderTest => ({
  files: new Files(['/job']),
  workspace: '/job',
  missing: '/gone',
})

const cases = Object.entries(PENDING_FILES_CASES)

describe('pending files in a folder', () => {
  it.each(cases)('%s', async (_, run) => run(await inFolder()))
})

describe('their twin in memory', () => {
  it.each(cases)('%s', async (_, run) => run(inMemory()))
})

/** A take leaves the document where it waits. */
class Copying extends MemoryPendingFiles {
  override async takePending(document: PendingDocument, by: string): Promise<boolean> {
    const isTaken = await super.takePending(document, by)
    if (isTaken) await this.writePending(document)
    return isTaken
  }
}

/** A close loses the document. */
class Losing extends MemoryPendingFiles {
  override async closePending(document: PendingDocument): Promise<boolean> {
    const isClosed = await super.closePending(document)
    await this.forgetClosed(document)
    return isClosed
  }
}

/** A take does not look which document waits. */
class Unguarded extends MemoryPendingFiles {
  override async takePending(document: PendingDocument, by: string): Promise<boolean> {
    await this.writePending(document)
    return super.takePending(document, by)
  }
}

/** A close does not look which document waits. */
class Overclosing extends MemoryPendingFiles {
  override async closePending(document: PendingDocument): Promise<boolean> {
    const waiting = await this.readPending(document.workspace)
    return super.closePending(waiting ?? document)
  }
}

/** A taken document is forgotten in the name of any candidate. */
class Careless extends MemoryPendingFiles {
  override async forgetTaken({ pending }: Parameters<PendingFiles['forgetTaken']>[0]): Promise<void> {
    for (const taken of await this.listTaken()) if (taken.pending.id === pending.id) await super.forgetTaken(taken)
  }
}

/** A document that is left does not take the place of the one before. */
class Keeping extends MemoryPendingFiles {
  override async writePending(document: PendingDocument): Promise<void> {
    if ((await this.readPending(document.workspace)) === undefined) await super.writePending(document)
  }
}

describe('the contract catches', () => {
  it.each([
    ['a take that leaves the document waiting', Copying, 'moves a taken document to its candidate: it waits no longer'],
    ['a close that loses it', Losing, 'moves a closed document to those that are over: it waits no longer'],
    ['a take without a guard', Unguarded, 'does not take a document that another one has replaced'],
    ['a close without a guard', Overclosing, 'does not close a document that another one has replaced'],
    ['forgetting for others', Careless, 'forgets a taken document, of this candidate alone, and twice like once'],
    ['a place that is never replaced', Keeping, 'has one document in a workspace: the one that was written last'],
  ])('%s', async (_, Files, name) => {
    await expect(PENDING_FILES_CASES[name]?.(inMemory(Files))).rejects.toThrow()
  })
})
