import assert from 'node:assert/strict'
import { Then, When } from '@cucumber/cucumber'
import type { HandoffWorld } from '../support/world.ts'

When(
  'the agent of the terminal {string} asks how much of its window is left',
  function (this: HandoffWorld, name: string) {
    return this.askAs(name, 'get_context_remaining')
  },
)

When(
  'the agent of the terminal {string} looks back for {string}',
  function (this: HandoffWorld, name: string, words: string) {
    return this.askAs(name, 'look_back', { words })
  },
)

When(
  'the agent of the terminal {string} asks for the lineage of the terminal {string}',
  async function (this: HandoffWorld, name: string, other: string) {
    await this.askAs(name, 'lineage', { session: this.terminals.idOf(other) })
  },
)

Then('it is told that {int} percent are used', function (this: HandoffWorld, percent: number) {
  assert.match(this.toldByTool.text, new RegExp(`^${percent} % of the usable window is used`))
})

Then(
  'it is told that nobody knows how full the window of the terminal {string} is',
  async function (this: HandoffWorld, name: string) {
    const session = (await this.keptTerminal(name).sessions()).at(-1)
    const { text } = this.toldByTool
    assert.match(text, /^It is unknown how full the window is/)
    assert.ok(session !== undefined && text.includes(session.id) && text.includes('"used_tokens":null'), text)
  },
)

Then('it is told {string}', function (this: HandoffWorld, words: string) {
  assert.ok(this.toldByTool.text.includes(`| ${words}`), this.toldByTool.text)
})

Then('the question of the terminal {string} is on record', async function (this: HandoffWorld, name: string) {
  const words = await this.keptTerminal(name).recordInWords()
  assert.equal(words.filter((word) => word === 'session looked back').length, 1)
})

Then('it is refused as if the terminal {string} had never been', async function (this: HandoffWorld, name: string) {
  const forbidden = this.toldByTool
  assert.ok(forbidden.isError)
  assert.equal((await this.keptTerminal(name).sessions()).length, 1)
  await this.askAs('blue', 'lineage', { session: '0190a0a0-0000-7000-8000-00000000dead' })
  assert.deepEqual(this.toldByTool, forbidden)
})
