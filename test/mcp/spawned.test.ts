import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { noteProcess } from '../../src/adapters/hook-client/agent-process.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { createBatonpass } from '../../src/main/batonpass.ts'
import { program } from '../support/bundle.ts'

const BATON = await program(fileURLToPath(new URL('../../src/adapters/cli/main.ts', import.meta.url)))

/** A busy machine takes its time to open an embedded store. */
const PATIENT = { timeout: 600_000 }

describe('baton mcp', () => {
  it('answers before any store is opened, and then finds the session of the process that started it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'batonpass-mcp-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const said: string[] = []
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [BATON, 'mcp', '--data-dir', folder],
      cwd: folder,
      // Of the project that the agent works on: it must not count.
      env: { PATH: process.env.PATH ?? '', HOME: folder, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' },
      stderr: 'pipe',
    })
    transport.stderr?.on('data', (text) => said.push(String(text)))
    const client = new Client({ name: 'test', version: '1' })
    onTestFinished(() => client.close())
    await client.connect(transport, PATIENT)
    expect((await client.listTools({}, PATIENT)).tools).toHaveLength(6)
    expect(readdirSync(folder)).toEqual([])
    const text = async (): Promise<string> =>
      JSON.stringify(await client.callTool({ name: 'lineage', arguments: {} }, PATIENT))
    expect(await text()).toContain('store.missing')
    expect(existsSync(join(folder, 'data'))).toBe(false)

    await using batonpass = await createBatonpass({ dataDir: folder })
    const { handoffs } = batonpass
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Find the quokka' }))
    const agent = { agentName: 'claude-code', backend: 'claude_code', providerSessionId: 'p-1' }
    unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
    // As the start hook of this process, which started the server, would.
    noteProcess(folder, 'p-1', String(process.pid))
    expect(await text(), said.join('')).toContain(conversation.id)
  })
})
