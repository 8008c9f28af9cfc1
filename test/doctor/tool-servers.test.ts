import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toolServers } from '../../src/adapters/doctor/tool-servers.ts'
import { ownProgram } from '../../src/adapters/install/own-program.ts'
import { TERMINAL_AGENTS } from '../../src/main/runtimes.ts'
import { folder, write } from './stage.ts'

const stage = () => {
  const [home, workingFolder] = [folder(), folder()]
  return { home, workingFolder, environment: { HOME: home, PATH: '' } }
}
const OURS = { command: 'baton', args: ['mcp'] }

it('says nothing where no server of ours is named', async () => {
  const place = stage()
  write(join(place.home, '.claude.json'), { mcpServers: { baton: { command: 'drumstick', args: ['play'] }, odd: 5 } })
  write(join(place.home, '.codex', 'config.toml'), '[mcp_servers.baton\n')
  expect(await toolServers(place, TERMINAL_AGENTS)).toEqual([])
})

it('names the one that is there', async () => {
  const place = stage()
  const file = write(join(place.home, '.claude.json'), { mcpServers: { baton: OURS } })
  expect(await toolServers(place, TERMINAL_AGENTS)).toEqual([{ result: 'ok', text: `"baton" in ${file}` }])
})

it('finds the same server under two names, and says which to remove', async () => {
  const place = stage()
  const own = write(join(place.home, '.claude.json'), {
    mcpServers: { batonpass: OURS },
    projects: { [place.workingFolder]: { mcpServers: { baton: { ...OURS, type: 'stdio' } } } },
  })
  const config = write(
    join(place.home, '.codex', 'config.toml'),
    '[mcp_servers.a]\ncommand = "baton"\nargs = ["mcp", "--runtime", "codex"]\n[mcp_servers]\nb = { command = "baton", args = ["mcp"] }\n',
  )
  expect(await toolServers(place, TERMINAL_AGENTS)).toEqual([
    {
      result: 'warning',
      text: `"batonpass" and "baton" are the same server (${own}), so an agent has each tool twice`,
      repair: 'Run "claude mcp remove batonpass".',
    },
    expect.objectContaining({ text: expect.stringContaining(config), repair: 'Run "codex mcp remove b".' }),
  ])
})

it('looks at the file of the project too', async () => {
  const place = stage()
  write(join(place.home, '.claude.json'), { mcpServers: { baton: OURS } })
  write(join(place.workingFolder, '.mcp.json'), { mcpServers: { handoffs: OURS } })
  expect(await toolServers(place, TERMINAL_AGENTS)).toMatchObject([
    { result: 'warning', repair: 'Run "claude mcp remove handoffs".' },
  ])
})

it('knows our server by the words of an installation, and in the settings of the project of Codex', async () => {
  const place = stage()
  const start = ownProgram({ environment: {}, script: write(join(place.home, 'cli', 'main.js'), '') })
  if (!start.ok) throw new Error(start.error)
  const { command, args } = start.value.start
  write(join(place.home, '.claude.json'), { mcpServers: { baton: { command, args: [...args, 'mcp'] }, mine: OURS } })
  write(join(place.home, '.codex', 'config.toml'), '[mcp_servers.baton]\ncommand = "baton"\nargs = ["mcp"]\n')
  const own = '[mcp_servers.mine]\ncommand = "npx"\nargs = ["-y", "batonpass", "mcp"]\n'
  write(join(place.workingFolder, '.codex', 'config.toml'), own)
  expect(await toolServers(place, TERMINAL_AGENTS)).toMatchObject([
    { result: 'warning', repair: 'Run "claude mcp remove mine".' },
    { result: 'warning', repair: 'Run "codex mcp remove mine".' },
  ])
})

it('finds it beside the plugin, which brings it too, unless that is off here', async () => {
  const place = stage()
  write(join(place.home, '.claude.json'), { mcpServers: { baton: OURS } })
  write(join(place.home, '.claude', 'settings.json'), { enabledPlugins: { 'baton@batonpass': true } })
  expect(await toolServers(place, TERMINAL_AGENTS)).toMatchObject([
    { result: 'ok' },
    { result: 'warning', text: expect.stringContaining('the plugin') },
  ])
  write(join(place.workingFolder, '.claude', 'settings.json'), { enabledPlugins: { 'baton@batonpass': false } })
  expect(await toolServers(place, TERMINAL_AGENTS)).toMatchObject([{ result: 'ok' }])
})
