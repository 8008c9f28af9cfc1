import assert from 'node:assert/strict'
import { Given, Then, When } from '@cucumber/cucumber'
import { claude } from '../../src/adapters/claude/vendor.ts'
import type { HandoffWorld } from '../support/world.ts'

Given(
  'a person has a hook {string} and a status line {string}',
  function (this: HandoffWorld, hook: string, line: string) {
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: hook }] }] }
    const settings = { model: 'opus', hooks, statusLine: { type: 'command', command: line, padding: 0 } }
    this.settings.has(`${JSON.stringify(settings, null, '\t')}\r\n`)
  },
)

Given('a person has settings with a comment in line {int}', function (this: HandoffWorld, line: number) {
  this.settings.has(`{${'\n'.repeat(line - 1)}// mine\n"model": "opus"}`)
})

Given('Batonpass is installed', function (this: HandoffWorld) {
  return this.settings.install()
})

Given('the person adds a hook {string}', function (this: HandoffWorld, command: string) {
  this.settings.adds(command)
})

When('Batonpass is installed once more', function (this: HandoffWorld) {
  return this.settings.install()
})

When('somebody tries to install Batonpass', function (this: HandoffWorld) {
  return this.settings.install()
})

When('Batonpass is uninstalled', function (this: HandoffWorld) {
  return this.settings.uninstall()
})

Then('their settings name every hook of Batonpass', function (this: HandoffWorld) {
  for (const event of Object.values(claude.terminal?.hooks ?? {}))
    assert.ok(this.settings.commands.includes(`baton hook ${event}`))
})

Then('their settings name the hook {string}', function (this: HandoffWorld, command: string) {
  assert.ok(this.settings.commands.includes(command))
})

Then('their settings name the hooks {list} and no other', function (this: HandoffWorld, commands: string[]) {
  assert.deepEqual(this.settings.commands, commands)
})

Then('their status line is ours, which runs {string}', function (this: HandoffWorld, command: string) {
  assert.equal(this.settings.statusLine, `baton hook statusline --then ${command}`)
})

Then('their status line is {string}', function (this: HandoffWorld, command: string) {
  assert.equal(this.settings.statusLine, command)
})

Then('their settings are as they were after the first time', function (this: HandoffWorld) {
  assert.notEqual(this.settings.installedFirst, this.settings.before)
  assert.equal(this.settings.text || undefined, this.settings.installedFirst)
})

Then('their settings are as they were before, to the byte', function (this: HandoffWorld) {
  assert.equal(this.settings.text, this.settings.before)
})

Then('that is refused as {string}, naming line {int}', function (this: HandoffWorld, code: string, line: number) {
  assert.equal(this.settings.refusal?.code, code)
  assert.match(this.settings.refusal?.message ?? '', new RegExp(`line ${line},`))
})
